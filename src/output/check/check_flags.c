/* Which checks count as off: those that findings speak of, and that tables mark. A check is off at p < CHECK_LEVEL, where p of
 * panels is that of any of their cells, and of residuals that of any cell of any column (Bonferroni); replicates too few for
 * such a p leave |z| > FAR. One fault can put several checks off. */
#include "output/check/findings.h"

#include <math.h>
#include <string.h>

#define FAR   5.0 /* z that counts as off where there are too few replicates for p to say so */
#define TREND 4.0 /* z */

/* Residuals are smaller by the coefficients that were fitted, which those of replicated tables are not. */
static bool spreads_less(const predictive_checks *c, const check_statistic *s)
{
    double n = (double)c->checked, left = fmax(n - (double)c->coefficients, 1.0);
    return s->observed * n / left < s->mean - 3.0 * s->sd;
}

static bool is_statistic_off(const predictive_checks *c, const check_statistic *s)
{
    double z = s->sd > 0.0 ? (s->observed - s->mean) / s->sd : 0.0;
    bool outside = s->observed < s->low || s->observed > s->high;
    if (isnan(s->p) || !(s->p < CHECK_LEVEL || (outside && fabs(z) > FAR))) return false;
    return strcmp(s->name, "dispersion") != 0 || s->observed > s->mean || spreads_less(c, s);
}

static void flag_panels(check_panels *all, double panels)
{
    for (size_t k = 0; k < all->count; k++) {
        check_panel *p = &all->panel[k];
        p->off = p->p * panels < CHECK_LEVEL || fabs(p->cell[p->worst].z) > FAR;
    }
}

void flag_checks(predictive_checks *c)
{
    for (size_t k = 0; k < c->statistics; k++)
        c->statistic[k].off = is_statistic_off(c, &c->statistic[k]);
    flag_panels(&c->calibration, (double)c->calibration.count);
    flag_panels(&c->rootogram, 1.0);
    flag_panels(&c->density, 1.0);
    flag_panels(&c->spread, 1.0);
    for (size_t k = 0; k < c->spread.count; k++)
        c->spread.panel[k].off |= fabs(c->spread.panel[k].trend_z) > TREND;
    for (size_t k = 0; k < c->residuals.count; k++)
        c->residuals.panel[k].off = c->residuals.panel[k].p < CHECK_LEVEL;
    c->pit.off = c->pit.rows > 0 && c->pit.p < CHECK_LEVEL;
}

bool is_sensitive(const check_sensitivity *s)
{
    return strcmp(s->diagnosis, "-") != 0;
}

static size_t panels_off(const check_panels *all)
{
    size_t count = 0;
    for (size_t k = 0; k < all->count; k++) count += all->panel[k].off;
    return count;
}

size_t checks_off(const predictive_checks *c)
{
    size_t count = panels_off(&c->calibration) + panels_off(&c->rootogram) +
                   panels_off(&c->density) + panels_off(&c->spread) +
                   panels_off(&c->residuals) + c->pit.off;
    for (size_t k = 0; k < c->statistics; k++) count += c->statistic[k].off;
    for (size_t k = 0; k < c->sensitivities; k++) count += is_sensitive(&c->sensitivity[k]);
    return count;
}
