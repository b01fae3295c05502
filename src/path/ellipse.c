/* The ellipse, a(t) = cos t, b(t) = sin t: position p and velocity q turn into each other.
 *
 *   int cos = sin t1 - sin t0,  int sin = cos t0 - cos t1,  int cos^2 = h/2 + (sin 2t1 - sin 2t0)/4,
 *   int sin cos = (sin^2 t1 - sin^2 t0)/2,                  int sin^2 = h - int cos^2
 *
 * by the half-sums and half-differences of the ends, so that short stretches keep their digits:
 * with m = (t0 + t1)/2 and k = h/2,  sin t1 - sin t0 = 2 cos m sin k,  and so on. */
#include "path/path.h"

#include <math.h>

static void ellipse_at(double t, double *a, double *b)
{
    *a = cos(t);
    *b = sin(t);
}

static void ellipse_rate(double t, double *da, double *db)
{
    *da = -sin(t);
    *db = cos(t);
}

static void ellipse_integrate(double t0, double t1, flow_integrals *out)
{
    double h = t1 - t0, m = 0.5 * (t0 + t1), c = cos(m), s = sin(m);
    double chord = 2.0 * sin(0.5 * h), swing = 0.5 * sin(h);
    out->a = c * chord;
    out->b = s * chord;
    out->aa = 0.5 * h + swing * (c * c - s * s);
    out->ab = 2.0 * swing * s * c;
    out->bb = 0.5 * h - swing * (c * c - s * s);
}

const flow_kind flow_ellipse = {
    .name = "ellipse",
    .stretch = 0.3, /* the mean of cos^4 over it is within 2% of that of its midpoint */
    .at = ellipse_at,
    .rate = ellipse_rate,
    .integrate = ellipse_integrate,
};
