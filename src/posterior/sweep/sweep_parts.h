/* What the files of this folder share, see sweep.h. */
#ifndef POSTERIOR_SWEEP_PARTS_H
#define POSTERIOR_SWEEP_PARTS_H

#include "model/mixed/mixed.h"
#include "posterior/full/posterior.h"
#include "posterior/sweep/sweep.h"

#include <math.h>

#define PASS_LEVELS ((size_t)256) /* levels that share a stream of random numbers */
#define PASS_ROWS   ((size_t)512) /* rows at a time */

/* Columns of x that effects of a factor can imitate: in every row of level l
 *
 *   x_ij = sum_a c_lja z_ia,                                                              (2)
 *
 * so that beta_j + e and u_l - c_lj e give the same predictors. */
typedef struct {
    size_t count;
    size_t *column; /* count: j */
    double *c;      /* levels * count * q */
    double *gram;   /* q * q * count * count: sum over l of c_lja c_lkb */
} sweep_columns;

/* A factor within each of whose levels lie whole levels of this one, and effects of both with
 * the same column: u_outer + e, u_inner - e. */
typedef struct {
    size_t outer, count;
    size_t own[LEVEL_EFFECTS_MAX], other[LEVEL_EFFECTS_MAX];
    uint32_t *of;  /* by level: the outer level */
    double *inner; /* by outer level: how many levels of this factor it has */
} sweep_link;

typedef struct {
    const other_factor *of;
    const uint32_t *level; /* of every row */
    size_t levels, q;
    sweep_columns columns;
    size_t links;
    sweep_link link[OTHERS_MAX];
} sweep_factor;

typedef struct sweep_sums sweep_sums; /* sweep_linear.c */

struct sweep {
    const posterior *u;
    const mixed *m;
    const rows *data;
    const predictor *family;
    size_t n, d, dim, factors, widest; /* widest: numbers q * levels of a factor, at most */
    sweep_factor factor[OTHERS_MAX];
    size_t lines;            /* coordinates with a slice along a line of eta */
    double *prior_precision; /* d * d: of the quadratic priors of beta */
    bool quadratic;          /* all priors of beta are quadratic */
    sweep_sums *sums;        /* normal rows; NULL: others */
};

/* The state of a chain. Members from `first` on carry nothing from one sweep to the next. */
typedef struct {
    double *at;             /* dim: beta, spreads, effects u, auxiliaries */
    double *total;          /* normal rows: the residual sum of squares */
    double *width;          /* of slices: spreads of all factors, then auxiliaries */
    double *root;           /* d * d: Cholesky factor of the proposal's precision of beta */
    double *eta;            /* n; normal rows: none */
    double *centre;         /* dim, of which effects are used; normal rows: none */
    double *first, *second; /* widest, q numbers per level: gradient at both points */
    double *curve, *curve2; /* q times as many: curvature there */
    double *value, *value2; /* by level: log density there */
    double *step, *v;       /* widest: changes; standardised effects */
    double *fixed;          /* d * (d + 6) */
    double *row;            /* 8 * PASS_ROWS, and 3 * stride */
} sweep_state;

/* Lays a state out at `base`; returns its size in doubles. NULL base: size only. */
size_t sweep_carve(const sweep *s, double *base, sweep_state *out);

/* One update. */
typedef struct {
    const sweep *s;
    sweep_state st;
    const rng *random;
    uint64_t count;  /* of sweeps */
    uint64_t update; /* number of the update within the sweep: part of the streams' keys */
    bool adapting;
    double passes; /* through the rows, so far */
    double loglik; /* of all rows, after the levels of a factor were drawn; not normal rows */
} sweep_run;

/* The stream of random numbers of part `part` of the present update. */
static inline rng sweep_stream(const sweep_run *r, size_t part)
{
    rng out = {.key = {r->random->key[0], r->random->key[1]},
               .counter = {0, part, r->update, r->count + 1}};
    return out;
}

/* Effects of level l. */
static inline double *sweep_effects(const sweep_run *r, const sweep_factor *f, size_t l)
{
    return r->st.at + f->of->first + l * f->q;
}

/* sweep.c: log prior of coordinate j < d or >= d at the point `at`. */
double sweep_log_prior(const sweep *s, const double *at, size_t j);
/* That of all coefficients; rest: only of those whose priors are not quadratic. */
double sweep_fixed_prior(const sweep *s, const double *at, bool rest);
/* out (d) += its gradient; rest: only of quadratic priors. */
void sweep_fixed_slope(const sweep *s, const double *at, bool quadratic, double *out);

/* ---- slices: sweep_spread.c ---- */

/* Log density of one number. */
typedef struct {
    void *self;
    double (*at)(void *self, double x);
} sweep_density;

/* Draws from the slice of the density at x, where it is fx, in an interval of this width that
 * is widened at most `widen` times (Neal 2003, Slice sampling, fig. 3 and 5). */
double sweep_slice(rng *random, double x, double fx, double width, size_t widen,
                   sweep_density f);

/* ---- sweep_spread.c ---- */

/* The change of the log likelihood when row `effect` of the factor L becomes `row`, with L^-1 u
 * unchanged. */
typedef struct {
    void *self;
    double (*change)(void *self, const double *row);
} sweep_line;

/* Draws standard deviations and correlations given the effects. */
void sweep_draw_spread(sweep_run *r, const sweep_factor *f);
/* st.v = L^-1 u of all levels. */
void sweep_standardise(const sweep_run *r, const sweep_factor *f, double *out);
/* Draws the coordinates that move row `effect` of L given L^-1 u, see sweep_line; row receives
 * the new row. widen: as for sweep_slice. */
void sweep_draw_row(sweep_run *r, const sweep_factor *f, size_t effect, const sweep_line *line,
                    size_t widen, double *row);

/* In warm-up the width of a slice follows 5 times the mean change, about four sds of the
 * density. */
void sweep_adapt_width(const sweep_run *r, double *width, double change);

/* ---- sweep_along.c ---- */

/* Draws the spreads of a factor of rows that are not normal, with its effects; r->loglik is that
 * of the rows. */
void along_draw(sweep_run *r, const sweep_factor *f);
/* In warm-up moves the centres towards the effects. */
void along_adapt(const sweep_run *r);

/* ---- sweep_shift.c ---- */

sbps_status shift_open(sweep *s, sbps_error *err);
void shift_close(sweep *s);
/* All shifts of a factor's effects. */
void shift_draw(sweep_run *r, const sweep_factor *f);

/* ---- sweep_linear.c ---- */

sbps_status linear_sums_open(sweep *s, sbps_error *err);
void linear_sums_close(sweep_sums *sums);
/* fit: beta and sigma begin at those of a regression without effects. */
void linear_begin(sweep_run *r, bool fit);
void linear_sweep(sweep_run *r);

/* ---- sweep_rows.c ---- */

void rows_begin(sweep_run *r);
void rows_sweep_all(sweep_run *r);
/* Sums by level of value (levels), slope (q each) and curvature (q * q each) at the predictors
 * plus z.step (q per level; NULL: 0). */
void rows_sum_levels(sweep_run *r, const sweep_factor *f, const double *step, double *value,
                     double *slope, double *curve);
/* The log likelihood at the predictors plus z.step. */
double rows_value(sweep_run *r, const sweep_factor *f, const double *step);
/* Adds z.step to the predictors. */
void rows_move(const sweep_run *r, const sweep_factor *f, const double *step);

#endif
