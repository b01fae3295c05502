/* Sums over violations and over sampled events, snapshots of the sums, and a few example
 * bounces. bias_response.c has the mathematics and the numbers of its equations. */
#include "estimate/bias.h"
#include "linalg/dense_matrix.h"

#include <float.h>
#include <string.h>

#define SAMPLE_EVERY  8  /* segments; violations are summed on every segment */
#define EXAMPLE_EVERY 16 /* bounces */
#define FIRST_STRETCH 64 /* segments */
#define MAX_EXAMPLES  16 /* of all chains together */
/* If no event is observed, the upper 95 % limit of a Poisson mean is 3 (the rule of three): two
 * standard errors of 1.5. With n observed, n + 2 sqrt(n + 1.5^2) is that limit for every n. */
#define UNSEEN_COUNT 1.5
#define NEAR         0.5 /* of lambda: where event.near starts to count */

/* Numbers of a snapshot: time, steepness, push, second. */
static size_t snapshot_width(const bias *b)
{
    return 2 + b->dim + (b->dim <= BIAS_SECOND_ORDER ? b->dim * b->dim : 0);
}

static size_t example_width(const bias *b)
{
    return 2 * b->dim + 1;
}

void bias_carve(bias *b, size_t dim, const double *hessian, const event_counts *counts,
                arena *memory)
{
    bool second = dim <= BIAS_SECOND_ORDER, even = second && hessian;
    b->dim = dim;
    b->counts = counts;
    b->state = arena_take(memory, sizeof *b->state);
    b->push = arena_doubles(memory, dim);
    b->second = second ? arena_doubles(memory, dim * dim) : NULL;
    b->hessian = even ? hessian : NULL;
    b->jump = even ? arena_doubles(memory, dim) : NULL;
    b->jump_second = even ? arena_doubles(memory, dim * dim) : NULL;
    b->snapshots = arena_doubles(memory, BIAS_SNAPSHOTS * snapshot_width(b));
    b->examples = arena_doubles(memory, BIAS_EXAMPLES * example_width(b));
}

void bias_start(bias *b)
{
    size_t d = b->dim;
    *b->state = (bias_state){.stretch = FIRST_STRETCH};
    memset(b->push, 0, d * sizeof *b->push);
    if (b->second) memset(b->second, 0, d * d * sizeof *b->second);
    if (!b->hessian) return;
    memset(b->jump, 0, d * sizeof *b->jump);
    memset(b->jump_second, 0, d * d * sizeof *b->jump_second);
}

/* ---- sums along the path ---- */

/* Adds a violation to push and second. */
static void add_push(bias *b, const segment *s)
{
    double a, c, da, dc, m = s->end->missing;
    s->flow->at(s->dt, &a, &c);
    s->flow->rate(s->dt, &da, &dc);
    for (size_t j = 0; j < b->dim; j++)
        b->push[j] += m * (da * s->p[j] + dc * s->q[j] - s->q_next[j]);
    for (size_t i = 0; b->second && i < b->dim; i++) {
        double mx = m * (a * s->p[i] + c * s->q[i]);
        for (size_t j = 0; j < b->dim; j++)
            b->second[i * b->dim + j] += mx * (da * s->p[j] + dc * s->q[j] - s->q_next[j]);
    }
}

/* Slopes s = u'Hx at the end of a straight segment. */
typedef struct {
    double before, after; /* before and after the event */
    double rise;          /* u'Hu before the event: s(t) = before - (dt - t) rise */
} slopes;

/* The slopes at the end of a segment; the rise only if requested. */
static slopes slopes_at(const bias *b, const segment *s, bool rise)
{
    size_t d = b->dim;
    slopes out = {0};
    for (size_t i = 0; i < d; i++) {
        const double *h = b->hessian + i * d;
        double row = 0.0;
        for (size_t j = 0; j < d; j++) row += h[j] * (s->p[j] + s->dt * s->q[j]);
        out.before += row * s->q[i];
        out.after += row * s->q_next[i];
        if (rise) out.rise += dot(d, h, s->q) * s->q[i];
    }
    return out;
}

/* Adds to the sums of (e), (f), (g). A violation has weight 1 + m, for the bounces that were
 * missed. */
static void add_sample(bias *b, const segment *s, slopes at)
{
    size_t d = b->dim;
    double weight = 1.0 + s->end->missing, square = at.before * at.before, t = s->dt;
    double square_integral =
        t * (square - at.before * at.rise * t + at.rise * at.rise * t * t / 3.0);
    b->state->sampled += t;
    b->state->decay += weight * square * (at.after * at.after - square);
    for (size_t j = 0; j < d; j++) b->jump[j] += weight * square * (s->q_next[j] - s->q[j]);
    for (size_t i = 0; i < d; i++) {
        double x = weight * square * (s->p[i] + t * s->q[i]), u = square_integral * s->q[i];
        double *row = b->jump_second + i * d;
        for (size_t j = 0; j < d; j++) row[j] += x * (s->q_next[j] - s->q[j]) + u * s->q[j];
    }
}

/* Adds to R at violations, and to the other sums of (g) on every SAMPLE_EVERY-th segment. */
static void add_steepness(bias *b, const segment *s)
{
    double m = s->end->missing;
    bool sampled = b->state->segments++ % SAMPLE_EVERY == 0;
    if (!sampled && m == 0.0) return;
    slopes at = slopes_at(b, s, sampled);
    b->state->steepness += m * (at.before * at.before - at.after * at.after);
    if (sampled) add_sample(b, s, at);
}

/* Keeps snapshots 2, 4, ...: stretches become twice as long. */
static void thin_snapshots(bias *b)
{
    size_t wide = snapshot_width(b);
    for (size_t i = 0; i < BIAS_SNAPSHOTS / 2; i++)
        memcpy(b->snapshots + i * wide, b->snapshots + (2 * i + 1) * wide,
               wide * sizeof *b->snapshots);
    b->state->snapshots_taken = BIAS_SNAPSHOTS / 2;
    b->state->stretch *= 2;
}

/* A snapshot holds the sums since the beginning; a stretch is the difference of two
 * snapshots. */
static void take_snapshot(bias *b)
{
    size_t d = b->dim;
    if (++b->state->stretched < b->state->stretch) return;
    if (b->state->snapshots_taken >= BIAS_SNAPSHOTS) thin_snapshots(b);
    double *snapshot = b->snapshots + b->state->snapshots_taken++ * snapshot_width(b);
    b->state->stretched = 0;
    snapshot[0] = b->counts->time;
    snapshot[1] = b->state->steepness;
    memcpy(snapshot + 2, b->push, d * sizeof *snapshot);
    if (b->second) memcpy(snapshot + 2 + d, b->second, d * d * sizeof *snapshot);
}

/* Keeps every EXAMPLE_EVERY-th bounce, in a ring of BIAS_EXAMPLES. */
static void keep_example(bias *b, const segment *s)
{
    double a, c, da, dc, *x, *jump;
    bool straight = s->flow == &flow_line; /* the slope is known on lines only */
    if (b->counts->bounces % EXAMPLE_EVERY) return;
    x = b->examples + b->state->examples++ % BIAS_EXAMPLES * example_width(b);
    jump = x + b->dim;
    s->flow->at(s->dt, &a, &c);
    s->flow->rate(s->dt, &da, &dc);
    for (size_t j = 0; j < b->dim; j++) {
        x[j] = a * s->p[j] + c * s->q[j];
        jump[j] = da * s->p[j] + dc * s->q[j] - s->q_next[j];
    }
    slopes at = b->hessian && straight ? slopes_at(b, s, false) : (slopes){0};
    jump[b->dim] = at.before * at.before - at.after * at.after;
}

void bias_take(void *self, const segment *s)
{
    bias *b = self;
    if (s->end->missing > 0.0) add_push(b, s);
    if (b->hessian && s->flow == &flow_line) add_steepness(b, s);
    if (s->end->kind == EVENT_BOUNCE) keep_example(b, s);
    take_snapshot(b);
}

/* ---- parts of the path ---- */

double bias_time(const bias *chains, size_t count)
{
    double time = 0.0;
    for (size_t c = 0; c < count; c++) time += chains[c].counts->time;
    return time;
}

/* One more than snapshots: the last stretch is the path after the last snapshot. */
size_t bias_groups(const bias *chains, size_t count)
{
    size_t max_snapshots = 0;
    for (size_t c = 0; c < count; c++)
        if (chains[c].state->snapshots_taken > max_snapshots)
            max_snapshots = chains[c].state->snapshots_taken;
    return max_snapshots + 1;
}

/* Adds a snapshot to `out`, or subtracts it (sign -1). */
static void add_snapshot(const bias *b, size_t index, double sign, bias_missed *out)
{
    size_t d = b->dim;
    const double *snapshot = b->snapshots + index * snapshot_width(b);
    out->time += sign * snapshot[0];
    out->steepness += sign * snapshot[1];
    for (size_t j = 0; j < d; j++) out->push[j] += sign * snapshot[2 + j];
    for (size_t i = 0; out->second && i < d * d; i++)
        out->second[i] += sign * snapshot[2 + d + i];
}

/* Adds the sums at the end of the path. */
static void add_all(const bias *b, bias_missed *out)
{
    size_t d = b->dim;
    out->time += b->counts->time;
    out->steepness += b->state->steepness;
    for (size_t j = 0; j < d; j++) out->push[j] += b->push[j];
    for (size_t i = 0; out->second && i < d * d; i++) out->second[i] += b->second[i];
}

static void clear_missed(const bias *b, bias_missed *out)
{
    out->time = out->steepness = 0.0;
    memset(out->push, 0, b->dim * sizeof *out->push);
    if (out->second) memset(out->second, 0, b->dim * b->dim * sizeof *out->second);
}

void bias_all(const bias *chains, size_t count, bias_missed *out)
{
    clear_missed(chains, out);
    for (size_t c = 0; c < count; c++) add_all(&chains[c], out);
}

void bias_group(const bias *chains, size_t count, size_t group, bias_missed *out)
{
    clear_missed(chains, out);
    for (size_t c = 0; c < count; c++) {
        size_t taken = chains[c].state->snapshots_taken;
        if (group > taken) continue;
        if (group < taken)
            add_snapshot(&chains[c], group, 1.0, out);
        else
            add_all(&chains[c], out);
        if (group > 0) add_snapshot(&chains[c], group - 1, -1.0, out);
    }
}

static size_t examples_of(const bias *b)
{
    return b->state->examples < BIAS_EXAMPLES ? b->state->examples : BIAS_EXAMPLES;
}

/* The same number from each chain, so that no chain dominates. */
size_t bias_example_count(const bias *chains, size_t count)
{
    size_t fewest = BIAS_EXAMPLES;
    for (size_t c = 0; c < count; c++)
        if (examples_of(&chains[c]) < fewest) fewest = examples_of(&chains[c]);
    return fewest * count < MAX_EXAMPLES ? fewest * count : MAX_EXAMPLES;
}

void bias_example(const bias *chains, size_t count, size_t index, bias_missed *out)
{
    const bias *b = &chains[index % count];
    size_t d = b->dim;
    const double *x = b->examples + index / count * example_width(b), *jump = x + d;
    out->time = 0.0;
    out->steepness = jump[d];
    memcpy(out->push, jump, d * sizeof *jump);
    for (size_t i = 0; out->second && i < d * d; i++) out->second[i] = x[i / d] * jump[i % d];
}

/* UNSEEN_COUNT bounces of mean size, over the violations observed and one more. The size of
 * that one is extrapolated from slopes above lambda/2: under a power-law tail the excess over
 * lambda is twice the excess over lambda/2. Without any such slope it is taken as lambda/2. */
double bias_unseen(const bias *chains, size_t count)
{
    double near = 0.5 * NEAR, nears = 1.0, missing = 0.0, violations = 0.0;
    for (size_t c = 0; c < count; c++) {
        near += chains[c].counts->near;
        nears += chains[c].counts->nears;
        missing += chains[c].counts->missing;
        violations += (double)chains[c].counts->violations;
    }
    return UNSEEN_COUNT * (missing + near / nears / NEAR) / (violations + 1.0);
}

/* ---- state read from a file ---- */

/* Sums and counts are reported only; the number of snapshots is an index and is checked. */
void bias_inspect(const bias *b, inspection *x)
{
    size_t d = b->dim;
    INSPECT_COUNT(x, b->state->snapshots_taken, BIAS_SNAPSHOTS);
    inspect_any(x, b->snapshots, BIAS_SNAPSHOTS * snapshot_width(b) * sizeof *b->snapshots);
    inspect_any(x, b->examples, BIAS_EXAMPLES * example_width(b) * sizeof *b->examples);
    inspect_any(x, b->state, sizeof *b->state);
    inspect_any(x, b->push, d * sizeof *b->push);
    if (b->second) inspect_any(x, b->second, d * d * sizeof *b->second);
    if (!b->hessian) return;
    inspect_any(x, b->jump, d * sizeof *b->jump);
    inspect_any(x, b->jump_second, d * d * sizeof *b->jump_second);
}
