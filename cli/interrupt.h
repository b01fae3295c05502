/* Ctrl-C, SIGTERM and SIGHUP: the first ends the run early, the second ends the program. SIGXCPU, SIGUSR1,
 * SIGUSR2 and SIGALRM, which batch systems send before they kill: each ends the run early. */
#ifndef CLI_INTERRUPT_H
#define CLI_INTERRUPT_H

#include "sbps.h"

void interrupt_catch(void);          /* from now on; without a run to end, the first exits */
void interrupt_defer(void);          /* the first only shows in interrupt_came */
void interrupt_watch(sbps_run *run); /* this is the run to end; NULL: none */
bool interrupt_came(void);
void interrupt_remove(
    const char *path); /* removed when a signal ends the program; NULL: nothing */

/* A mapped table that is cut short while it is in use ends the program with a sentence; `path` is the
 * table, kept. */
void interrupt_mapped(const char *path);

/* A reader that went away or a limit on a file's size is an error of the write, not the program's
 * end: draws can still go elsewhere. */
void failed_writes_report(void);
void broken_pipe(void); /* ends as a program whose reader went away does */

#endif
