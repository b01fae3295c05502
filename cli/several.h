/* One program on several ranks: the first speaks for all, and a job that fails ends with one sentence. */
#ifndef CLI_SEVERAL_H
#define CLI_SEVERAL_H

#include "sbps_ranks.h"

typedef struct {
    sbps_ranks *ranks; /* NULL: this process is one by itself */
    int log_fd;        /* what this rank has to say and keeps to itself; -1: it speaks freely */
    int voice;         /* standard error as it was */
} several;

/* Joins the ranks; all but the first fall silent. */
sbps_status several_begin(several *s, sbps_error *err);
/* The exit code of this rank, when all have come to their end. Of ranks that fail the first is heard. */
int several_end(several *s, int code);
/* Does this rank write what all have found? */
bool several_first(const sbps_ranks *ranks);

#endif
