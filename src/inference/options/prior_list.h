/* Priors of coefficients by their names: "normal(0,2.5); x1=normal(0,1); g:*=student_t(3,0,1)". */
#ifndef INFERENCE_PRIOR_LIST_H
#define INFERENCE_PRIOR_LIST_H

#include "model/prior/prior.h"

typedef struct {
    char *
        name; /* may hold *, which stands for anything; NULL: of all that no other piece names */
    bool usual; /* "auto" */
    prior distribution;
    bool used;
} prior_piece;

typedef struct {
    prior_piece *piece;
    size_t count;
} prior_list;

/* Close it also after a failure. */
sbps_status prior_list_parse(const char *text, prior_list *out, sbps_error *err);
bool prior_list_names(const prior_list *list); /* does any piece? */
/* The piece for a coefficient, which is marked: one that has its very name, else the last whose pattern it fits, else
 * that without a name; NULL: none is. */
const prior_piece *prior_list_find(prior_list *list, const char *name);
void prior_list_close(prior_list *list);

#endif
