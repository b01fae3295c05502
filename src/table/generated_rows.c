/* Column j of row i is a number of kernels.counter_rows: uniform, sd 2/sqrt(3), 16 bits,
 * exact as a double and as 15 decimals. The target is drawn from the model's distribution
 * given the predictor x.truth and two random words of the row. The seed draws the
 * coefficients `truth`; the intercept's is 0. */
#include "table/generated_rows.h"
#include "core/memory.h"
#include "core/rng.h"
#include "table/content_hash.h"
#include "table/gathered_rows.h"
#include "table/row_partition.h"
#include "table/row_sums.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PARTS_MAX                                                                              \
    ((size_t)8192) /* of a sum, at most: each rank stores the totals of its parts */
#define TARGET_ROWS ((size_t)128)

/* Computes n consecutive rows, and their targets unless y is NULL. */
static void generate_run(const rows *data, size_t first, size_t n, double *x, double *y)
{
    const row_recipe *c = data->storage.recipe;
    size_t intercept = data->intercept, stride = data->stride;
    const kernels *k = c->k;
    double eta[TARGET_ROWS];
    uint32_t pairs[2 * TARGET_ROWS];
    for (size_t done = 0, more; done < n; done += more) {
        double *at = x + done * stride;
        more = n - done < TARGET_ROWS ? n - done : TARGET_ROWS;
        for (size_t i = 0; i < more && data->d < stride; i++)
            memset(at + i * stride + data->d, 0, (stride - data->d) * sizeof *at);
        for (size_t i = 0; intercept && i < more; i++) at[i * stride] = 1.0;
        k->counter_rows(c->seed, data->storage.recipe_first + first + done, more, c->features,
                        at + intercept, stride, y ? pairs : NULL);
        if (!y) continue;
        k->row_products(at, stride, NULL, 0, more, c->truth, NULL, eta, NULL);
        c->draw(k, more, eta, pairs, y + done);
    }
}

static void gather_generated(const rows *data, row_range r, double *x, double *y)
{
    if (!r.list) {
        generate_run(data, r.first, r.n, x, y);
        return;
    }
    for (size_t i = 0; i < r.n; i++)
        generate_run(data, r.list[i], 1, x + i * data->stride, y ? y + i : NULL);
}

const double *generated_targets(const rows *data, row_range r, double *buffer)
{
    double x[GATHERED_DOUBLES];
    size_t block = GATHERED_DOUBLES / data->stride;
    for (size_t done = 0, n; done < r.n; done += n) {
        n = r.n - done < block ? r.n - done : block;
        row_range b = r.list ? (row_range){r.list + done, 0, n} : rows_from(r.first + done, n);
        gather_generated(data, b, x, buffer + done);
    }
    return buffer;
}

static double generated_cell(const rows *data, size_t i, size_t j)
{
    double x[GATHERED_DOUBLES];
    gathered_decode(data, i, x);
    return x[j];
}

static double generated_bytes(const rows *data)
{
    (void)data;
    return 0.0;
}

const storage_kind storage_generated = {
    .name = "generated",
    .products = gathered_products,
    .combine = gathered_combine,
    .decode = gathered_decode,
    .cell = generated_cell,
    .bytes = generated_bytes,
    .outer = gathered_outer,
    .gather_dense = gather_generated,
};

/* ---- creation ---- */

static bool name_columns(rows *r)
{
    char name[32];
    r->table.names = calloc(r->d, sizeof *r->table.names);
    r->table.target = copy_text("y");
    for (size_t j = 0; r->table.names && j < r->d; j++) {
        snprintf(name, sizeof name, "x%zu", j + 1 - r->intercept);
        r->table.names[j] = copy_text(j < r->intercept ? "intercept" : name);
        if (!r->table.names[j]) return false;
    }
    return r->table.names && r->table.target;
}

/* Sets the exact moments of the columns' distribution, not those of the rows drawn. */
static bool set_moments(rows *r)
{
    r->table.mean = new_doubles(r->d);
    r->table.sd = new_doubles(r->d);
    for (size_t j = 0; r->table.mean && r->table.sd && j < r->d; j++) {
        r->table.mean[j] = j < r->intercept ? 1.0 : 0.0;
        r->table.sd[j] = j < r->intercept ? 0.0 : COUNTER_UNIT * sqrt((0x1p32 - 1.0) / 12.0);
    }
    return r->table.mean && r->table.sd;
}

/* Returns a new recipe with the coefficients drawn; NULL: no memory. */
static row_recipe *write_recipe(const generated_spec *spec, const rows *r)
{
    row_recipe *c = calloc(1, sizeof *c + r->stride * sizeof *c->truth);
    if (!c) return NULL;
    *c = (row_recipe){kernels_best(), spec->seed, spec->features, spec->draw};
    rng random = rng_stream(spec->seed, 0, RNG_SIMULATE);
    for (size_t j = r->intercept; j < r->d; j++)
        c->truth[j] = spec->reach * (2.0 * rng_uniform(&random) - 1.0);
    return c;
}

/* Returns the table's hash: of the recipe, not of the rows, which are never read for it. */
static uint64_t hash_recipe(const generated_spec *spec)
{
    const uint64_t numbers[] = {spec->n, spec->features, spec->seed, spec->intercept};
    size_t length = strlen(spec->model);
    hash_stream name = hash_open(length, length);
    hash_stream all = hash_open(hash_close(&name, spec->model, length), sizeof numbers);
    return hash_close(&all, numbers, sizeof numbers);
}

static sbps_status check_spec(const generated_spec *spec, sbps_error *err)
{
    if (spec->n > GENERATED_ROWS)
        return fail(err, SBPS_BAD_ARG, "--generate: %zu rows at most, not %zu", GENERATED_ROWS,
                    spec->n);
    if (spec->features > GENERATED_COLUMNS_MAX)
        return fail(err, SBPS_BAD_ARG,
                    "--dim: generated rows have at most %zu columns, not %zu",
                    GENERATED_COLUMNS_MAX, spec->features);
    return SBPS_OK;
}

sbps_status generated_create(const generated_spec *spec, rows **out, sbps_error *err)
{
    sbps_status status = check_spec(spec, err);
    *out = NULL;
    if (status != SBPS_OK) return status;
    rows *r = calloc(1, sizeof *r);
    if (!r) return fail_memory(err);
    size_t d = spec->features + spec->intercept;
    *r = (rows){.storage.kind = &storage_generated,
                .local_rows = spec->n,
                .d = d,
                .stride = (d + KERNEL_LANES - 1) / KERNEL_LANES * KERNEL_LANES,
                .intercept = spec->intercept,
                .recompute_rows = true,
                .table.seed = spec->seed,
                .table.hash = hash_recipe(spec)};
    while (r->sum_part_rows * PARTS_MAX < r->local_rows) r->sum_part_rows += PART_ROWS;
    r->storage.recipe = write_recipe(spec, r);
    if (r->storage.recipe && name_columns(r) && set_moments(r)) {
        *out = r;
        return SBPS_OK;
    }
    rows_destroy(r);
    return fail_memory(err);
}

rows generated_sample(const rows *data, size_t n)
{
    rows few = *data;
    size_t all = total_rows(data);
    few.local_rows = n < all ? n : all;
    few.partition = NULL;
    few.storage.recipe_first = 0;
    few.sum_part_rows = 0;
    return few;
}

/* ---- ranks ---- */

/* Returns the first row of a rank: borders lie between parts of sums. */
static size_t rank_begin(const rows *r, size_t size, size_t rank)
{
    if (r->sum_part_rows <= PART_ROWS) return partition_begin(r->local_rows, size, rank);
    size_t units = (r->local_rows + r->sum_part_rows - 1) / r->sum_part_rows,
           begin = units * rank / size * r->sum_part_rows;
    return begin < r->local_rows ? begin : r->local_rows;
}

sbps_status generated_distribute(rows *r, ranks *among, sbps_error *err)
{
    size_t size = among->size, smallest = r->local_rows;
    double first;
    for (size_t i = 0; i < size; i++) {
        size_t own = rank_begin(r, size, i + 1) - rank_begin(r, size, i);
        if (own < smallest) smallest = own;
    }
    if (smallest < 2 * ROW_BLOCK)
        return fail(
            err, SBPS_BAD_ARG,
            "%zu rows are too few for %zu ranks, which need %zu each: start fewer ranks",
            r->local_rows, size, 2 * ROW_BLOCK);
    row_partition *partition = malloc(sizeof *partition);
    if (!partition) return fail_memory(err);
    generated_targets(r, rows_from(0, 1), &first);
    *partition = (row_partition){.among = among,
                                 .first_row = rank_begin(r, size, among->rank),
                                 .total_rows = r->local_rows,
                                 .min_local_rows = smallest,
                                 .target_origin = first};
    r->local_rows = rank_begin(r, size, among->rank + 1) - partition->first_row;
    r->storage.recipe_first = partition->first_row;
    r->partition = partition;
    return SBPS_OK;
}
