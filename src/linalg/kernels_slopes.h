/* From the products of rows to sums of slopes: see slope_terms. */

#define SLOPE_LANES 8
#define SLOPE_PARTS (SLOPE_LANES / WIDE)

/* m numbers of an array, 0 in the other places; `nothing` in all of them where it is NULL. */
static inline wide slope_load(const double *x, size_t i, size_t m, double nothing)
{
    if (!x) return wide_set(nothing);
    return m == WIDE ? wide_load(x + i) : wide_load_part(m, x + i);
}

/* r of m <= WIDE rows from row i; returns g, which is 0 where there is no row. */
static inline __attribute__((always_inline)) wide slope_part(bool sigmoid, size_t i, size_t m,
                                                             const slope_terms *s,
                                                             const double *eta,
                                                             const double *deta, double *r)
{
    const wide rate = slope_load(deta, i, m, 0);
    wide at = wide_fma(wide_set(s->t), rate, slope_load(eta, i, m, 0));
    if (s->offset) at = at + slope_load(s->offset, i, m, 0);
    const wide mean =
        sigmoid
            ? wide_sigmoid(at)
            : wide_exp(wide_where_le(wide_set(MEAN_EXP_TOP), at, wide_set(MEAN_EXP_TOP), at));
    wide left = slope_load(s->base, i, m, 0) - mean;
    if (s->curvature) left = wide_fma(-slope_load(s->curvature, i, m, 0), at, left);
    if (s->weight) left = left * slope_load(s->weight, i, m, 0);
    if (m == WIDE)
        wide_store(r + i, left);
    else
        wide_store_part(m, r + i, left);
    return left * rate;
}

static inline __attribute__((always_inline)) void
slope_sums(bool sigmoid, size_t n, const slope_terms *s, const double *eta, const double *deta,
           double *r, double sums[2])
{
    wide sum[SLOPE_PARTS], square[SLOPE_PARTS];
    for (size_t b = 0; b < SLOPE_PARTS; b++) sum[b] = square[b] = wide_set(0);
    size_t i = 0;
    for (; i + SLOPE_LANES <= n; i += SLOPE_LANES)
        for (size_t b = 0; b < SLOPE_PARTS; b++) {
            const wide g = slope_part(sigmoid, i + b * WIDE, WIDE, s, eta, deta, r);
            sum[b] = sum[b] + g;
            square[b] = wide_fma(g, g, square[b]);
        }
    for (size_t b = 0; i + b * WIDE < n; b++) {
        const size_t left = n - i - b * WIDE, m = left < WIDE ? left : WIDE;
        const wide g = slope_part(sigmoid, i + b * WIDE, m, s, eta, deta, r);
        sum[b] = sum[b] + g;
        square[b] = wide_fma(g, g, square[b]);
    }
    double lane[SLOPE_LANES];
    for (size_t b = 0; b < SLOPE_PARTS; b++) wide_store(lane + b * WIDE, sum[b]);
    for (size_t l = 0; l < KERNEL_LANES; l++) lane[l] += lane[l + KERNEL_LANES];
    sums[0] = fold(lane);
    for (size_t b = 0; b < SLOPE_PARTS; b++) wide_store(lane + b * WIDE, square[b]);
    for (size_t l = 0; l < KERNEL_LANES; l++) lane[l] += lane[l + KERNEL_LANES];
    sums[1] = fold(lane);
}

static void slope_sums_sigmoid(size_t n, const slope_terms *s, const double *eta,
                               const double *deta, double *r, double sums[2])
{
    slope_sums(true, n, s, eta, deta, r, sums);
}

static void slope_sums_exp(size_t n, const slope_terms *s, const double *eta,
                           const double *deta, double *r, double sums[2])
{
    slope_sums(false, n, s, eta, deta, r, sums);
}
