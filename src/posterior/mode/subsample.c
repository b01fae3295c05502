/* The mode by way of parts of the rows, which lie in random order: the first are a sample of all. The mode of few is
 * where the search in more of them begins, and there one look is enough: a step, mended by the part before, leads to
 * about the mode. Twice all rows then give a reference. */
#include "posterior/mode/search.h"

#include <math.h>

#define PART_MIN        ((size_t)400) /* rows of which a mode is found first */
#define PART_GROUPS     ((size_t)100) /* the same where rows are groups, dear and full of rows */
#define PART_EACH       ((size_t)20)  /* for each parameter, at least */
#define PART_LAST       ((size_t)4)   /* times as many are in the table as in the last part, */
#define PART_GROWS      ((size_t)8)   /* and in a part as in the one before, at most */
#define PART_FROM       ((size_t)4000) /* rows of a table: in less the whole way takes no time */
#define CORRECTION_LAST ((size_t)10)   /* times as many are there as steps are mended by, */
#define CORRECTION_FIRST                                                                       \
    ((size_t)4) /* which are at most so many times those of the first part */
/* Of the decrement over dim: of draws, and of the distance a reference may have. In a part of the rows the mode is
 * another anyhow. */
#define GOAL_NEAR 0.1
#define GOAL_PART 0.3
#define HOP_MAX   16.0 /* likewise: as far as a part is from the next, and as much again */

static const mode_request usual = {.method = "auto"};

/* A posterior of the first n rows. */
typedef struct {
    rows data;
    row_partition partition;
    posterior u;
} part;

/* Of ranks, what each has of them. */
static void cut_partition(const rows *all, size_t n, part *p)
{
    size_t first = all->partition->first, ours = n > first ? n - first : 0;
    p->partition = *all->partition;
    p->partition.whole = n;
    p->data.partition = &p->partition;
    p->data.n = ours < all->n ? ours : all->n;
}

static void part_of(const posterior *u, size_t n, part *p)
{
    p->data = *u->data;
    p->u = *u;
    p->data.n = n;
    p->u.data = &p->data;
    if (u->data->partition) cut_partition(u->data, n, p);
}

/* Rows of the first part; 0: the table is short, or rows say nothing of each other. */
static size_t first_part(const posterior *u)
{
    bool groups = u->model->row_model,
         odd = u->model->facts.uneven && !u->model->facts.log_concave;
    size_t smallest = PART_EACH * u->dim, n = rows_all(u->data),
           few = groups ? PART_GROUPS : PART_MIN;
    if (smallest < few || groups) smallest = few;
    return odd || n < PART_FROM / (PART_MIN / few) || n / PART_LAST < smallest ? 0 : smallest;
}

/* Rows of the part after that, by equal factors to the last; 0: it was the last. */
static size_t next_part(const posterior *u, size_t n)
{
    size_t last = rows_all(u->data) / PART_LAST, parts = 1;
    if (n >= last) return 0;
    for (size_t size = n * PART_GROWS; size < last; size *= PART_GROWS) parts++;
    return parts == 1
               ? last
               : (size_t)((double)n * pow((double)last / (double)n, 1.0 / (double)parts));
}

/* Enough rows to mend a step by, at a small price. */
static size_t correction_rows(const posterior *u)
{
    size_t n = rows_all(u->data) / CORRECTION_LAST, limit = CORRECTION_FIRST * first_part(u);
    return n < limit ? n : limit;
}

/* About the mode of the last part, or of the first that has enough rows, and how many it has; NULL: the table is short, or no part has a mode. */
static mode *mode_of_parts(const posterior *u, size_t enough, size_t *of)
{
    part now, correction_part;
    mode *near = NULL, *next;
    double dim = (double)u->dim;
    size_t limit = correction_rows(u);
    *of = 0;
    for (size_t n = first_part(u); n > 0; n = *of >= enough ? 0 : next_part(u, n)) {
        *of = n;
        part_of(u, n, &now);
        search_request e = {.how = &usual, .goal = GOAL_PART * dim};
        if (near)
            e = (search_request){&usual, near->w, e.goal, HOP_MAX * dim, &correction_part.u,
                                 NULL};
        search_run(&now.u, &e, &next, NULL);
        if (!next) continue;
        mode_destroy(near);
        near = next;
        part_of(u, n < limit ? n : limit, &correction_part);
    }
    return near;
}

mode *mode_of_part(const posterior *u, size_t one_in)
{
    size_t of, n = rows_all(u->data), d = u->dim;
    mode *near = mode_of_parts(u, n / one_in, &of);
    for (size_t i = 0; near && i < d * d; i++) near->hessian[i] *= (double)n / (double)of;
    return near;
}

sbps_status mode_find(const posterior *u, const double *start, mode **out, sbps_error *err)
{
    size_t of;
    mode *near = start ? NULL : mode_of_parts(u, rows_all(u->data), &of);
    sbps_status status = mode_find_by(u, near ? near->w : start, &usual, out, err);
    mode_destroy(near);
    return status;
}

sbps_status mode_near(const posterior *u, const double *start, row_cache *beside, mode **out,
                      sbps_error *err)
{
    part correction_part;
    size_t of;
    mode *near = start ? NULL : mode_of_parts(u, rows_all(u->data), &of);
    bool enough = near && beside; /* without a part to begin with the whole way is short */
    search_request e = {.how = &usual, .start = near ? near->w : start, .goal = MODE_GOAL};
    e.beside = beside;
    if (enough) {
        part_of(u, correction_rows(u), &correction_part);
        e.goal = GOAL_NEAR * (double)u->dim;
        e.part = &correction_part.u;
    }
    sbps_status status = search_run(u, &e, out, err);
    mode_destroy(near);
    return status;
}
