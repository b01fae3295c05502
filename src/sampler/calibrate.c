/* See calibrate.h. */
#include "sampler/calibrate.h"
#include "base/real.h"

#include <float.h>
#include <math.h>

#define WIDTH_FIRST 1.0
#define WIDTH_RATIO 1.06

double band_width(size_t index)
{
    return WIDTH_FIRST * pow(WIDTH_RATIO, (double)index);
}

void band_curve_add(double *curve, const band *b, double t, double g, double rate)
{
    double mean = band_mean(b, t), sd = band_sd(b, t), k = WIDTH_FIRST;
    for (size_t i = 0; i < BAND_CURVE; i++, k *= WIDTH_RATIO) {
        double lambda = larger(mean + k * sd, b->floor);
        if (g <= lambda) return;
        curve[i] += (g - lambda) / rate;
    }
}

void calibration_begin(calibration *c, bool on)
{
    *c = (calibration){.on = on};
}

double band_choose(const double *curve, double time, double goal)
{
    double budget = goal * time;
    if (!(budget > 0.0)) return band_width(BAND_CURVE - 1);
    for (size_t i = 0; i < BAND_CURVE; i++) {
        if (curve[i] > budget) continue;
        if (i == 0) return WIDTH_FIRST;
        double above = curve[i - 1], below = larger(curve[i], 1e-3 * budget);
        double share = log(above / budget) / log(above / below);
        return band_width(i - 1) * pow(WIDTH_RATIO, share);
    }
    return band_width(BAND_CURVE - 1);
}

void calibration_inspect(const calibration *c, inspection *x)
{
    INSPECT_COUNT(x, c->on, 1);
    INSPECT_REAL(x, c->time, 0.0, DBL_MAX);
    inspect_reals(x, "bounces that a band would miss", c->curve, BAND_CURVE, 0.0, INFINITY);
}
