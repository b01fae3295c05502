/* The straight line, a(t) = 1, b(t) = t, and standing still, a = 1, b = 0. */
#include "path/path.h"

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
