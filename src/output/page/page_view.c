/* Which parameters of a run are shown, and their draws. */
#include "output/page/page_view.h"

#include "core/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A parameter and its priority. */
typedef struct {
    double priority;
    size_t index;
} candidate;

static int by_priority(const void *a, const void *b)
{
    const candidate *x = a, *y = b;
    if (x->priority != y->priority) return x->priority < y->priority ? 1 : -1;
    return (x->index > y->index) - (x->index < y->index);
}

static int by_index(const void *a, const void *b)
{
    size_t x = *(const size_t *)a, y = *(const size_t *)b;
    return (x > y) - (x < y);
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

size_t view_draws(const view *v)
{
    return v->r->chains * v->r->draws;
}

const char *view_name(const view *v, size_t j)
{
    return v->parameters[j].name;
}

bool view_varies(const view *v, size_t j)
{
    const sbps_parameter *p = &v->parameters[j];
    return isfinite(p->mean) && isfinite(p->sd) && isfinite(p->q5) && isfinite(p->q95) &&
           p->q95 > p->q5;
}

/* Priority by poor mixing: an R-hat above its limit first, then the fewest effective draws. */
static double poor_mixing(const view *v, size_t j)
{
    const sbps_parameter *p = &v->parameters[j];
    double ess = fmin(p->ess_bulk, p->ess_tail);
    return (p->rhat > 1.01 ? p->rhat : 0.0) - (isnan(ess) ? 0.0 : ess / (ess + 1.0));
}

double view_path_ess(const view *v, size_t j)
{
    return result_path_ess(v->r, j);
}

/* The parameter with the smallest ESS of its path; dim: unknown. */
static size_t find_slowest(const view *v)
{
    size_t slowest = v->r->dim;
    for (size_t j = 0; j < v->r->dim; j++) {
        double ess = view_path_ess(v, j);
        if (!isnan(ess) && (slowest == v->r->dim || ess < view_path_ess(v, slowest)))
            slowest = j;
    }
    return slowest;
}

/* Priority by the distance from 0 in posterior sd. */
static double distance_from_zero(const view *v, size_t j)
{
    return fabs(v->parameters[j].mean) / v->parameters[j].sd;
}

/* Selects up to `limit` parameters that vary, by decreasing priority; returns their number. */
static size_t select_parameters(const view *v, double (*priority)(const view *v, size_t j),
                                size_t limit, candidate *scratch, size_t *out)
{
    size_t count = 0;
    for (size_t j = 0; j < v->r->dim; j++)
        if (view_varies(v, j)) scratch[count++] = (candidate){priority(v, j), j};
    qsort(scratch, count, sizeof *scratch, by_priority);
    if (count > limit) count = limit;
    for (size_t i = 0; i < count; i++) out[i] = scratch[i].index;
    return count;
}

/* Replaces the last of the list by parameter j, unless it is in the list. */
static void include(size_t count, size_t *list, size_t j)
{
    for (size_t i = 0; i < count; i++)
        if (list[i] == j) return;
    if (count > 0) list[count - 1] = j;
}

/* Selects the parameters in tables, in the order of the file. */
static size_t show_rows(const view *v, candidate *scratch, size_t *out)
{
    size_t count = v->r->dim;
    if (count > MAX_ROWS) {
        count = select_parameters(v, distance_from_zero, SELECTED_ROWS, scratch, out);
        if (v->slowest < v->r->dim) include(count, out, v->slowest);
        qsort(out, count, sizeof *out, by_index);
    } else
        for (size_t j = 0; j < count; j++) out[j] = j;
    return count;
}

sbps_status view_open(const result *r, const sbps_parameter *parameters, view *out,
                      sbps_error *err)
{
    *out = (view){.r = r, .parameters = parameters};
    candidate *scratch = malloc((r->dim + 1) * sizeof *scratch);
    out->shown = calloc(MAX_ROWS, sizeof *out->shown);
    out->worst = calloc(MAX_TRACED, sizeof *out->worst);
    out->clearest = calloc(SELECTED_ROWS, sizeof *out->clearest);
    out->draws = new_doubles(3 * view_draws(out) + 1);
    if (!scratch || !out->shown || !out->worst || !out->clearest || !out->draws) {
        free(scratch);
        view_close(out);
        return fail_memory(err);
    }
    out->slowest = find_slowest(out);
    out->shown_count = show_rows(out, scratch, out->shown);
    out->worst_count = select_parameters(out, poor_mixing, MAX_TRACED, scratch, out->worst);
    out->clearest_count =
        select_parameters(out, distance_from_zero, SELECTED_ROWS, scratch, out->clearest);
    free(scratch);
    return SBPS_OK;
}

void view_close(view *v)
{
    free(v->shown);
    free(v->worst);
    free(v->clearest);
    free(v->draws);
    *v = (view){0};
}

const double *view_gather(const view *v, size_t j)
{
    for (size_t i = 0; i < view_draws(v); i++) v->draws[i] = v->r->w[i * v->r->dim + j];
    return v->draws;
}

const double *view_sorted(const view *v, size_t j)
{
    size_t n = view_draws(v);
    double *sorted = v->draws + n;
    memcpy(sorted, view_gather(v, j), n * sizeof *sorted);
    qsort(sorted, n, sizeof *sorted, compare_doubles);
    return sorted;
}
