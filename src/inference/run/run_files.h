/* Files of a run while it advances: checkpoints, skeleton, trace. */
#ifndef INFERENCE_RUN_FILES_H
#define INFERENCE_RUN_FILES_H

#include "inference/run/run.h"

/* Lines `name=value` of the options that affect the path; owned by the caller, NULL: no memory.
 */
char *files_option_lines(const sbps_options *options);
/* Opens the files, after reading the checkpoint of --resume. */
sbps_status files_open(sbps_run *run, sbps_error *err);
/* Appends the records of a round, and writes a checkpoint if one is due. last: it is. */
sbps_status files_after_round(sbps_run *run, bool last, sbps_error *err);
/* Closes skeleton and trace; the checkpoint is never left open. */
void files_close(sbps_run *run);

/* Empties the chain's trace buffer at the start of a round and turns tracing on or off. */
void trace_switch(chain *c, bool on);

/* Checks every member of the run's state against the values a run can
 * have written. Declared for tests, which check that no byte is left out. */
void inspect_run(const sbps_run *run, inspection *x);
/* The memory of one chain, likewise. */
void inspect_chain(const sbps_run *run, size_t index, inspection *x);

#endif
