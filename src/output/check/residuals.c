/* Residuals along each column: in a cell of rows, y_i - mean_i has mean 0, and a sum of them
 * the variance V = sum sd_i^2 and the skewness g = sum E(y* - mean)^3 / V^(3/2). With X =
 * sum/sqrt(V) and a = 4/g^2,
 *
 *   z = 3 sqrt(a) ((1 + X/sqrt(a))^(1/3) - 1 + 1/(9 a)),                                (1)
 *
 * which approximates the sum by a gamma distribution of that skewness (mirrored if it is
 * negative), so that a few rare events do not count as outliers of a normal one. Wilson,
 * Hilferty (1931), PNAS 17, 684-688. Residuals of fitted rows are rather smaller, and so is z.
 * For counts, proportions and positive targets overdispersion would make every z larger: z is
 * divided by the root of mean (y_i - mean_i)^2/sd_i^2 where that is above 1, so that
 * overdispersion alone does not appear as a pattern.
 *
 * For real targets, whose tails may be heavy, y_i - mean_i is replaced by the normal quantile
 * of u_i = P(y* <= y_i) without row i, with V = 1 and g = 0: one extreme row then does not
 * dominate its cell.
 *
 * The curve along a numeric column is the sum of the residuals times a parabola of the cell's
 * index, orthogonal to a constant and a line under the weights V. */
#include "output/check/check_parts.h"

#include "core/memory.h"
#include "estimate/normal_scores.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define LEVELS_MAX ((size_t)100) /* further levels share one cell */
#define CURVE_MIN  ((size_t)4)   /* cells */

/* How residuals of this target are computed. */
typedef struct {
    bool scores;   /* normal quantiles instead of residuals */
    double spread; /* that z is divided by */
} residual_rule;

/* Sums over the rows of a cell. */
typedef struct {
    double sum, square;           /* residuals, and their variance */
    double score, variance, cube; /* the same of the scores that z is computed from */
    size_t rows;
} residual_sum;

/* The normal quantile of u_i, which n draws resolve only to 0.5/n. */
static double score_of(const row_sample *s, const sampled_row *row)
{
    double u = 0.5 * (row->below + row->upto), edge = 0.5 / (double)s->f->draws;
    return normal_quantile(fmin(fmax(u, edge), 1.0 - edge));
}

/* Adds row i to the sums of its cell; for a class model the residual of this class. */
static void add_residual(const row_sample *s, size_t i, size_t class, residual_rule rule,
                         residual_sum *to)
{
    const sampled_row *row = s->row[i];
    double variance = row->sd * row->sd, cube = row->cube, off = row->y - row->mean;
    if (s->classes) {
        double p = probabilities_of(s, i)[class];
        off = (row->y == (double)class) - p;
        variance = p * (1.0 - p);
        cube = variance * (1.0 - 2.0 * p);
    }
    to->sum += off;
    to->square += variance;
    to->score += rule.scores ? score_of(s, row) : off;
    to->variance += rule.scores ? 1.0 : variance;
    to->cube += rule.scores ? 0.0 : cube;
    to->rows++;
}

/* (1) */
static double z_of(const residual_sum *r, residual_rule rule)
{
    if (!(r->variance > 0.0)) return 0.0;
    double x = r->score / sqrt(r->variance) / rule.spread,
           skew = r->cube / (r->variance * sqrt(r->variance));
    double sign = skew < 0.0 ? -1.0 : 1.0, root = 2.0 / fabs(skew);
    if (!(root < 1e4)) return x;
    return sign * 3.0 * root *
           (cbrt(fmax(1.0 + sign * x / root, 0.0)) - 1.0 + 1.0 / (9.0 * root * root));
}

/* Mean residual of a cell, its limits around 0, and z. */
static void fill_cell(const residual_sum *r, residual_rule rule, check_cell *to)
{
    double n = (double)r->rows, sd = r->rows ? rule.spread * sqrt(r->square) / n : 0.0;
    to->rows = r->rows;
    to->observed = r->rows ? r->sum / n : 0.0;
    to->expected = 0.0;
    to->low = -1.96 * sd;
    to->high = 1.96 * sd;
    to->z = z_of(r, rule);
}

/* ---- the curve ---- */

/* Mean of u(c) over the cells, weighted by their variances. */
static double over_cells(size_t cells, const residual_sum *r,
                         double (*u)(double, const double *), const double *with)
{
    double sum = 0.0, all = 0.0;
    for (size_t c = 0; c < cells; c++) {
        sum += r[c].variance * u((double)c, with);
        all += r[c].variance;
    }
    return sum / all;
}

static double cell_position(double c, const double *with)
{
    (void)with;
    return c;
}

static double square(double c, const double *with)
{
    return (c - with[0]) * (c - with[0]);
}

static double cubed(double c, const double *with)
{
    return square(c, with) * (c - with[0]);
}

/* z of the curve over the cells; NAN with fewer than CURVE_MIN. */
static double curve_z(size_t cells, const residual_sum *r, residual_rule rule)
{
    if (cells < CURVE_MIN) return NAN;
    double middle = over_cells(cells, r, cell_position, NULL);
    double wide = over_cells(cells, r, square, &middle),
           skew = over_cells(cells, r, cubed, &middle) / wide;
    double sum = 0.0, variance = 0.0;
    for (size_t c = 0; c < cells; c++) {
        double t = (double)c - middle, u = t * t - wide - skew * t;
        sum += u * r[c].score;
        variance += u * u * r[c].variance;
    }
    return variance > 0.0 ? sum / sqrt(variance) / rule.spread : NAN;
}

/* ---- columns ---- */

/* A cell per level. */
static sbps_status partition_levels(const row_sample *s, size_t k, partition *out,
                                    sbps_error *err)
{
    size_t known = s->column[k].levels;
    *out = (partition){.cell = calloc(s->rows + 1, sizeof *out->cell),
                       .cells = known < LEVELS_MAX ? known : LEVELS_MAX};
    if (!out->cell) return fail_memory(err);
    for (size_t i = 0; i < s->rows; i++) {
        size_t code = (size_t)s->row[i]->value[k];
        out->cell[i] = code < out->cells ? code : out->cells - 1;
    }
    return SBPS_OK;
}

/* Cells of a column: its levels, or equally many rows. */
static sbps_status partition_column(const row_sample *s, size_t k, partition *out,
                                    sbps_error *err)
{
    if (s->column[k].levels > 0) return partition_levels(s, k, out, err);
    double *value = new_doubles(s->rows + 1);
    if (!value) return fail_memory(err);
    for (size_t i = 0; i < s->rows; i++) value[i] = s->row[i]->value[k];
    sbps_status status = partition_evenly(s->rows, value, out, err);
    free(value);
    return status;
}

/* Names the cells by their levels or limits. */
static sbps_status label_cells(const row_sample *s, size_t k, const partition *cut,
                               check_panel *p, sbps_error *err)
{
    const sample_column *of = &s->column[k];
    for (size_t c = 0; c < p->count; c++) {
        check_cell *to = &p->cell[c];
        if (cut->from) {
            to->from = cut->from[c];
            to->to = cut->to[c];
            continue;
        }
        bool rest = c + 1 == p->count && of->levels > p->count;
        to->label = copy_text(rest ? "other levels" : of->level[c]);
        to->from = to->to = (double)c;
        if (!to->label) return fail_memory(err);
    }
    return SBPS_OK;
}

/* Appends the panel of column k; of class models for one class. */
static sbps_status compare_class(const row_sample *s, size_t k, size_t class,
                                 residual_rule rule, const partition *cut, check_panels *out,
                                 sbps_error *err)
{
    check_panel *p = NULL;
    residual_sum *r = calloc(cut->cells + 1, sizeof *r);
    sbps_status status = r ? SBPS_OK : fail_memory(err);
    if (status == SBPS_OK)
        status = panel_open(out, s->column[k].name, s->classes ? s->f->class[class] : NULL,
                            cut->cells, &p, err);
    if (status == SBPS_OK) status = label_cells(s, k, cut, p, err);
    if (status == SBPS_OK) {
        for (size_t i = 0; i < s->rows; i++) add_residual(s, i, class, rule, &r[cut->cell[i]]);
        for (size_t c = 0; c < cut->cells; c++) fill_cell(&r[c], rule, &p->cell[c]);
        if (cut->from) p->trend_z = curve_z(cut->cells, r, rule);
        panel_find_worst(p);
    }
    free(r);
    return status;
}

/* p by Bonferroni, over the cells and curves of all columns. */
static void adjust_p_values(check_panels *all)
{
    double comparisons = 0.0;
    for (size_t k = 0; k < all->count; k++)
        comparisons += (double)all->panel[k].count + (double)!isnan(all->panel[k].trend_z);
    for (size_t k = 0; k < all->count; k++) {
        check_panel *p = &all->panel[k];
        double z = p->count ? fabs(p->cell[p->worst].z) : 0.0;
        p->p = fmin(1.0, comparisons * normal_tails(fmax(z, fabs(p->trend_z))));
    }
}

/* The rule for the target of the model, with its overdispersion. */
static residual_rule rule_for_target(const row_sample *s)
{
    target_support t = s->f->model->support;
    bool spreads = t == SUPPORT_COUNTS || t == SUPPORT_PROPORTIONS || t == SUPPORT_POSITIVE ||
                   t == SUPPORT_UNIT;
    double sum = 0.0;
    for (size_t i = 0; spreads && i < s->rows; i++) {
        const sampled_row *row = s->row[i];
        double off = row->sd > 0.0 ? (row->y - row->mean) / row->sd : 0.0;
        sum += off * off / (double)s->rows;
    }
    return (residual_rule){.scores = t == SUPPORT_REAL, .spread = sqrt(fmax(sum, 1.0))};
}

sbps_status compare_residuals(const row_sample *s, check_panels *out, sbps_error *err)
{
    size_t classes = s->classes ? s->classes : 1;
    const residual_rule rule = rule_for_target(s);
    sbps_status status = SBPS_OK;
    for (size_t k = 0; status == SBPS_OK && k < s->columns; k++) {
        partition cut = {0};
        status = partition_column(s, k, &cut, err);
        for (size_t c = 0; status == SBPS_OK && c < classes; c++)
            status = compare_class(s, k, c, rule, &cut, out, err);
        partition_clear(&cut);
    }
    if (status == SBPS_OK) adjust_p_values(out);
    return status;
}
