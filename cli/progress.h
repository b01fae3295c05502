/* Progress on standard error: of a run, and of steps that do not report how far they are. */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include "sbps.h"

/* ---- a run ---- */

typedef struct {
    bool silent;
    bool bar;    /* a line that is redrawn, on a terminal; otherwise a new line now and then */
    bool drawn;  /* the bar is on the terminal */
    double next; /* monotonic seconds of the next update */
} progress;

/* mode: auto, on or off. */
progress progress_open(const char *mode);

/* Shows the state of the run if it is time to. */
void progress_tick(progress *p, const sbps_run *run);

/* Removes the bar, or prints the last line. */
void progress_close(progress *p, const sbps_run *run);

/* ---- a step: a thread shows its name and duration ---- */

typedef struct status_line status_line;

/* Starts the thread; `what` names the step (the string is kept). NULL where `mode` is off. All
 * functions below accept NULL. */
status_line *status_line_begin(const char *mode, const char *what);

/* Begins another step and its clock. table: passes through its rows are shown; NULL: none. Both
 * are kept. */
void status_line_set(status_line *w, const char *what, const sbps_table *table);

/* Bytes that are done, and their total; NAN: unknown. */
void status_line_bytes(status_line *w, double done, double all);

/* Ends the thread and removes the line. */
void status_line_end(status_line *w);

/* ---- numbers ---- */

/* Writes "1.2M", "1m05s"; "?" for NAN. */
void format_count(double count, size_t size, char *out);
void format_duration(double seconds, size_t size, char *out);

/* Writes ", 1.2GB of 1.9GB, 190MB/s, 4s left"; "" where bytes are not known. */
void format_bytes_done(double done, double all, double seconds, size_t size, char *out);

/* Seconds of a monotonic clock. */
double clock_seconds(void);

#endif
