/* Signals. SIGINT (Ctrl-C), SIGTERM and SIGHUP: the first ends the run early and saves its
 * draws, the second ends the program at once. SIGXCPU, SIGUSR1, SIGUSR2 and SIGALRM, which
 * batch systems send before they kill a job, end the run early each time. */
#ifndef CLI_INTERRUPT_H
#define CLI_INTERRUPT_H

#include "sbps.h"

/* Handles the signals from now on; while no run is watched, the first request ends the
 * program. */
void interrupt_catch(void);

/* The same, but the first request only sets interrupt_came. */
void interrupt_defer(void);

/* The run that signals end; NULL: none. */
void interrupt_watch(sbps_run *run);

/* Whether a signal has come. */
bool interrupt_came(void);

/* A file that is removed when a signal ends the program (the string is kept); NULL: none. */
void interrupt_remove(const char *path);

/* If a mapped table becomes shorter while it is in use, the program ends with a message that
 * names `path` (the string is kept). */
void interrupt_mapped(const char *path);

/* Makes a closed pipe or a limit on file sizes an error of the write instead of the end of the
 * program, so that draws can still be saved elsewhere. */
void failed_writes_report(void);

/* Ends the program by SIGPIPE, as is usual when the reader of a pipe has gone. */
void broken_pipe(void);

/* ---- calls that may crash run in a child process ---- */

/* Calls work(self, err) in a child process and returns its status and message. If the child
 * dies the status is SBPS_NO_MEM, with `path` in the message. Output to standard output is
 * flushed; other changes to memory are lost. If no child can be created, `work` is called in
 * this process. */
sbps_status guard(const char *path, sbps_status (*work)(const void *self, sbps_error *err),
                  const void *self, sbps_error *err);

#endif
