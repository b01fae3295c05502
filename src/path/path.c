/* The flows along which a path moves, each w(t) = centre + a(t) p + b(t) q:
 *
 *   line      a = 1,      b = t
 *   still     a = 1,      b = 0       the state of a discrete sampler
 *   ellipse   a = cos t,  b = sin t   position p and velocity q rotate into each other
 *
 * Integrals of the ellipse over t0..t1, h = t1 - t0:
 *
 *   int cos = sin t1 - sin t0,               int sin = cos t0 - cos t1,
 *   int cos^2 = h/2 + (sin 2t1 - sin 2t0)/4, int sin^2 = h - int cos^2,
 *   int sin cos = (sin^2 t1 - sin^2 t0)/2
 *
 * They are computed from m = (t0 + t1)/2 and k = h/2, so that short stretches keep their
 * digits: sin t1 - sin t0 = 2 cos m sin k, and so on. */
#include "path/path.h"

#include <float.h>
#include <math.h>

static void line_at(double t, double *a, double *b)
{
    *a = 1.0;
    *b = t;
}

static void line_rate(double t, double *da, double *db)
{
    (void)t;
    *da = 0.0;
    *db = 1.0;
}

static void line_integrate(double t0, double t1, flow_integrals *out)
{
    double h = t1 - t0;
    out->a = out->aa = h;
    out->b = out->ab = h * 0.5 * (t0 + t1);
    out->bb = h * (t0 * t0 + t0 * t1 + t1 * t1) / 3.0;
}

const flow_kind flow_line = {
    .name = "line",
    .at = line_at,
    .rate = line_rate,
    .integrate = line_integrate,
};

static void still_at(double t, double *a, double *b)
{
    (void)t;
    *a = 1.0;
    *b = 0.0;
}

static void still_rate(double t, double *da, double *db)
{
    (void)t;
    *da = *db = 0.0;
}

static void still_integrate(double t0, double t1, flow_integrals *out)
{
    *out = (flow_integrals){.a = t1 - t0, .aa = t1 - t0};
}

const flow_kind flow_still = {
    .name = "still",
    .at = still_at,
    .rate = still_rate,
    .integrate = still_integrate,
};

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
    .stretch = 0.3, /* over it the mean of cos^4 is within 2% of cos^4 at the midpoint */
    .at = ellipse_at,
    .rate = ellipse_rate,
    .integrate = ellipse_integrate,
};

/* ---- events and observations ---- */

void event_counts_take(void *self, const segment *s)
{
    event_counts *c = self;
    const event *e = s->end;
    c->time += s->dt;
    c->missing += e->missing;
    c->expected += e->expected;
    c->near += e->near;
    c->nears += (double)e->nears;
    c->proposals += e->proposals;
    c->violations += e->violations;
    c->rows += e->rows;
    c->bounces += e->kind == EVENT_BOUNCE;
    c->refreshments += e->kind == EVENT_REFRESH;
}

/* The counts are reported, and no later result depends on them. */
void event_counts_inspect(const event_counts *c, inspection *x)
{
    INSPECT_REAL(x, c->time, 0.0, DBL_MAX);
    inspect_any(x, c, sizeof *c);
}

void event_inspect(const event *e, inspection *x)
{
    INSPECT_KIND(x, e->kind, EVENT_STEP);
    INSPECT_FLAG(x, e->failed);
    if (!x->wrong[0]) inspect_that(x, "a path that has ended", !e->failed);
    INSPECT_ANY(x, e->proposals);
    INSPECT_ANY(x, e->violations);
    INSPECT_ANY(x, e->rows);
    INSPECT_ANY(x, e->missing);
    INSPECT_ANY(x, e->near);
    INSPECT_ANY(x, e->nears);
    INSPECT_ANY(x, e->expected);
}

void observation_inspect(const observation *o, inspection *x)
{
    inspect_finite(x, "an observed slope", &o->slope, 1);
    inspect_reals(x, "an observed variance", &o->variance, 1, 0.0, DBL_MAX);
    INSPECT_ANY(x, o->rows);
}
