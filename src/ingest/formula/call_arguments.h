/* Arguments of a call in a formula: by name, then by place. */
#ifndef INGEST_CALL_ARGUMENTS_H
#define INGEST_CALL_ARGUMENTS_H

#include "ingest/formula/tree.h"

/* A call and where its words come from. */
typedef struct {
    const char *text; /* of the formula */
    const node *of;
    pool *pool;
    sbps_error *err;
} call;

#define ARGUMENTS_MAX 6

/* The argument called formal[k] into given[k], NULL where there is none. `formal` ends with NULL. */
sbps_status call_match(const call *c, const char *const *formal, const node **given);
/* Of a call: x, by name or as the first that has none; NULL: there is none. */
const node *first_argument(const node *n);
/* They leave *out alone where `given` is NULL. */
sbps_status call_number(const call *c, const node *given, double *out);
sbps_status call_count(const call *c, const node *given, size_t min, size_t max, size_t *out);
sbps_status call_flag(const call *c, const node *given, bool *out);
/* A number, or c(...) of numbers, as they stand. */
sbps_status call_list(const call *c, const node *given, double **out, size_t *count);
/* The same in increasing order. */
sbps_status call_numbers(const call *c, const node *given, double **out, size_t *count);

#endif
