/* Reports observations, see report_observation.h. Without an arrival lambda is the band
 * itself, not a chord over it. */
#include "sampler/band/report_observation.h"
#include "linalg/real.h"

#include <math.h>

void report_observation(const observation_sink *w, observation_kind kind, double t,
                        observation o)
{
    slope_observation l = {.kind = kind, .t = t, .slope = o.slope, .variance = o.variance};
    l.mean = l.sd = l.rate = l.from = l.rate_from = NAN;
    w->take(w->self, &l);
}

void report_under_band(const observation_sink *w, observation_kind kind, const band *b,
                       double from, const arrival *a, const observation *o, bool bounced)
{
    slope_observation l = {
        .kind = kind, .bounced = bounced, .t = a->time, .rate = a->rate, .from = from};
    l.slope = o ? o->slope : NAN;
    l.variance = o ? o->variance : NAN;
    l.mean = band_mean(b, a->time);
    l.sd = band_sd(b, a->time);
    l.rate_from = larger(band_at(b, from), 0.0);
    w->take(w->self, &l);
}
