/* The rows of a table in memory, by the levels of one grouping factor, for leave-one-group-out. */
#ifndef OUTPUT_GROUP_ROWS_H
#define OUTPUT_GROUP_ROWS_H

#include "output/predict/loo.h"
#include "output/predict/predictor_draws.h"

#include <pthread.h>
#include <stdint.h>

#define GROUP_NONE SIZE_MAX

/* A row; `number` are x, then z. */
typedef struct {
    size_t index; /* its place in the file */
    double *number;
    char **name; /* of its level, by term */
    size_t *level;
    double y, offset;
    double factor, constant; /* its log likelihood is factor log p + constant */
} group_row;

/* The rows, in the order of their groups. */
typedef struct {
    const predictor_draws *f;
    pthread_mutex_t lock; /* of row, count, capacity and bytes */
    group_row *row;
    size_t count, capacity;
    double bytes, bytes_max;
    size_t columns, varying, terms;
    const char *factor;
    size_t *term_begin; /* by term: its first column of z */
    size_t *term_count; /* by term: its effects */
    bool *own;          /* by term: is it of the factor? */
    char ***level;      /* by term: names of its levels */
    size_t *levels;     /* by term */
    size_t *
        *only_in; /* by term and level: the group all of whose rows have it, or GROUP_NONE */
    const double **known;  /* draws of the effects of crossed levels, see open_known */
    size_t **known_at;     /* by term and level: index in `known`, or GROUP_NONE */
    size_t groups, *start; /* start[g] .. start[g + 1]: rows of group g */
    size_t first_own;      /* a term of the factor */
} group_rows;

/* Prepares *d for the rows of a run; `f` and `factor` are borrowed. SBPS_BAD_ARG: the model has
 * no such factor. Close it also after a failure. */
sbps_status group_rows_open(const predictor_draws *f, const char *factor, group_rows *d,
                            sbps_error *err);
/* Reads all complete rows. */
sbps_status group_rows_read(group_rows *d, const result *r, const char *run, const char *data,
                            const loo_choice *choice, stream_count *count, sbps_error *err);
/* Sorts them by group, and finds which levels occur in one group only. */
sbps_status group_rows_arrange(group_rows *d, sbps_error *err);
void group_rows_close(group_rows *d);

#endif
