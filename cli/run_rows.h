/* The operands of the subcommands that take a stored run and rows: RUN... [DATA]. The rule is in
 * docs/files.md, section "Runs and their rows". */
#ifndef CLI_RUN_ROWS_H
#define CLI_RUN_ROWS_H

#include "cli/cli.h"

/* The number of runs among the operands, which come first. Fails where the operands are not in
 * the order RUN... [DATA]. max_runs: at most so many; those after them are rows. */
sbps_status run_operands(const arguments *args, size_t max_runs, size_t *runs, sbps_error *err);

/* The rows: the operand after the runs, else the value of --data, else the file that the first
 * run records. *out is borrowed from the arguments or from `first`. */
sbps_status run_rows(const arguments *args, size_t runs, const sbps_result *first,
                     const char **out, sbps_error *err);

#endif
