/* How far a run is, on standard error. */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include "sbps.h"

/* What takes long and cannot be asked how far it is: a thread says every now and then that it goes on. */
typedef struct waiting waiting;

/* mode as below; NULL: nothing will be said. */
waiting *waiting_begin(const char *mode, const char *what);
/* From now on it is this, with a table whose rows are gone through or NULL; the clock starts anew. Strings are
 * kept. NULL is fine. */
void waiting_for(waiting *w, const char *what, const sbps_table *table);
/* So many bytes of all are done; NAN: unknown. */
void waiting_bytes(waiting *w, double done, double all);
/* Ends the thread and takes its line away. NULL is fine. */
void waiting_end(waiting *w);

typedef struct {
    bool silent;
    bool bar;    /* one line redrawn, for terminals; otherwise a line now and then */
    bool drawn;  /* the bar stands on the terminal */
    double next; /* monotonic seconds at which to show again */
} progress;

/* mode: auto, on or off. */
progress progress_open(const char *mode);
/* Cheap unless it is time to show something. */
void progress_tick(progress *p, const sbps_run *run);
/* Takes the bar away, or prints the last line. */
void progress_close(progress *p, const sbps_run *run);
/* "1.2M", "1m05s"; "?" for NAN. */
void format_count(double count, size_t size, char *out);
void format_duration(double seconds, size_t size, char *out);
/* ", 1.2GB of 1.9GB, 190MB/s, 4s left"; nothing where bytes are not known. */
void format_bytes_done(double done, double all, double seconds, size_t size, char *out);
/* The line without its newline, at most width - 1 columns, or everything when width is 0. */
void progress_line(const sbps_progress *state, bool bar, size_t width, size_t size, char *out);
/* Seconds of a clock that nobody sets. */
double clock_seconds(void);

#endif
