/* scale(): (x - mean) / sd as in R, sd with n - 1. With center = FALSE the divisor is the root
 * mean square (with n - 1, too). */
#include "ingest/formula/transform.h"

#include <math.h>

typedef struct {
    bool centred, scaled;
    double centre, unit;
} scaling;

static sbps_status scale_open(const call *c, const node **given, void **self)
{
    static const char *const formal[] = {"x", "center", "scale", NULL};
    scaling *s = *self = pool_take(c->pool, sizeof *s);
    if (!s) return fail_memory(c->err);
    *s = (scaling){.centred = true, .scaled = true, .unit = 1.0};
    sbps_status status = call_match(c, formal, given);
    if (status == SBPS_OK) status = call_flag(c, given[1], &s->centred);
    return status == SBPS_OK ? call_flag(c, given[2], &s->scaled) : status;
}

static sbps_status scale_fit(const call *c, void *self, double *value, size_t n)
{
    scaling *s = self;
    long double sum = 0.0L, squares = 0.0L;
    for (size_t i = 0; i < n; i++) sum += value[i];
    if (s->centred) s->centre = (double)(sum / (long double)n);
    for (size_t i = 0; i < n; i++) {
        double from = value[i] - s->centre;
        squares += (long double)from * from;
    }
    if (!s->scaled) return SBPS_OK;
    s->unit = sqrt((double)(squares / (long double)(n > 1 ? n - 1 : 1)));
    return s->unit > 0.0 ? SBPS_OK : fail_call(c, "all values are the same");
}

static size_t scale_learned(const void *self, double *out)
{
    const scaling *s = self;
    if (out) {
        out[0] = s->centre;
        out[1] = s->unit;
    }
    return 2;
}

static sbps_status scale_recall(const call *c, void *self, const double *learned, size_t n)
{
    scaling *s = self;
    if (n != 2) return fail_recall(c);
    s->centre = learned[0];
    s->unit = learned[1];
    return SBPS_OK;
}

static size_t scale_width(const void *self)
{
    (void)self;
    return 1;
}

static void scale_numbers(const void *self, double x, double *out)
{
    const scaling *s = self;
    *out = (x - s->centre) / s->unit;
}

const transform_kind transform_scale = {
    .name = "scale",
    .open = scale_open,
    .fit = scale_fit,
    .learned = scale_learned,
    .recall = scale_recall,
    .width = scale_width,
    .numbers = scale_numbers,
};
