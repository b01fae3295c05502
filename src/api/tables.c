/* Tables for a caller: read, copied, converted, generated or empty. */
#include "api/arguments.h"
#include "core/ranks/ranks.h"
#include "inference/options/target.h"
#include "inference/run/make_table.h"
#include "inference/run/run.h"
#include "sbps_ranks.h"
#include "table/generated_rows.h"
#include "table/row_partition.h"

/* Rows in groups become a table of these. */
static sbps_status group(rows **data, sbps_error *err)
{
    rows *member_rows = *data;
    if (!member_rows->groups) return SBPS_OK;
    sbps_status status = grouped_rows(member_rows, data, err);
    if (status != SBPS_OK) rows_destroy(member_rows);
    return status;
}

static sbps_status wrap(rows *data, sbps_table **out, sbps_error *err)
{
    sbps_status status = group(&data, err);
    if (status != SBPS_OK) return status;
    *out = calloc(1, sizeof **out);
    if (!*out) {
        rows_destroy(data);
        return fail_memory(err);
    }
    (*out)->data = data;
    (*out)->visited = calloc(1, sizeof *(*out)->visited);
    if ((*out)->visited) return SBPS_OK;
    sbps_table_destroy(*out);
    *out = NULL;
    return fail_memory(err);
}

/* Groups are laid together, not at random: they are not shared out. */
static sbps_status distribute_rows(sbps_table *table, ranks *among, sbps_error *err)
{
    if (table->data->member_rows)
        return fail(err, SBPS_BAD_ARG,
                    "tables with groups are not shared out over ranks: start one process");
    return table->data->storage.recipe ? generated_distribute(table->data, among, err)
                                       : rows_distribute(table->data, among, err);
}

static rows_spec watched_spec(const sbps_options *options, sbps_convert_watch watch, void *self)
{
    rows_spec spec = table_spec(options);
    spec.watch = watch;
    spec.watcher = self;
    return spec;
}

sbps_status sbps_table_read(const char *path, const sbps_options *options,
                            const sbps_reading *how, sbps_table **out, sbps_error *err)
{
    rows *data;
    sbps_reading full = {0};
    REQUIRE_OUT(out);
    REQUIRE(options);
    if (!options->generate) REQUIRE(path);
    sbps_status status =
        how ? sized_take("sbps_reading", how, sizeof full, &full, err) : SBPS_OK;
    if (status != SBPS_OK) return status;
    ranks *among = full.ranks;
    rows_spec spec = watched_spec(options, full.watch, full.self);
    const char *min_bytes =
        getenv("SBPS_SHARE_TEXT"); /* bytes of text that are read in shares */
    spec.partitions = ranks_size(among);
    spec.among = among;
    spec.distribute_min_bytes = min_bytes ? strtoul(min_bytes, NULL, 10) : 0;
    status = options->generate ? table_generate(options, path, &data, err)
                               : rows_read(path, &spec, &data, err);
    if (status == SBPS_OK) status = wrap(data, out, err);
    if (status != SBPS_OK || !among || (*out)->data->partition) return status;
    if ((status = distribute_rows(*out, among, err)) != SBPS_OK) {
        sbps_table_destroy(*out);
        *out = NULL;
    }
    return status;
}

sbps_status sbps_table_copy(size_t row_count, size_t columns, const double *x,
                            const char *const *names, const double *target,
                            const sbps_options *options, sbps_table **out, sbps_error *err)
{
    rows *data;
    REQUIRE_OUT(out);
    if (columns > 0) REQUIRE(x);
    REQUIRE(target);
    REQUIRE(options);
    rows_spec spec = table_spec(options);
    sbps_status status =
        rows_copy(row_count, columns, x, names, target, NULL, NULL, &spec, &data, err);
    return status == SBPS_OK ? wrap(data, out, err) : status;
}

sbps_status sbps_table_from_columns(size_t row_count, size_t count, const sbps_column *columns,
                                    const sbps_options *options, sbps_convert_watch watch,
                                    void *self, sbps_table **out, sbps_error *err)
{
    rows *data;
    REQUIRE_OUT(out);
    REQUIRE(columns);
    REQUIRE(options);
    rows_spec spec = watched_spec(options, watch, self);
    const sbps_frame from = {.rows = row_count, .count = count, .columns = columns};
    sbps_status status = rows_from_columns(&from, &spec, &data, err);
    return status == SBPS_OK ? wrap(data, out, err) : status;
}

sbps_status sbps_table_from_sparse(size_t row_count, const sbps_sparse *matrix, size_t count,
                                   const sbps_column *columns, const sbps_options *options,
                                   sbps_convert_watch watch, void *self, sbps_table **out,
                                   sbps_error *err)
{
    rows *data;
    REQUIRE_OUT(out);
    REQUIRE(matrix);
    REQUIRE(options);
    REQUIRE(columns || count == 0);
    rows_spec spec = watched_spec(options, watch, self);
    const sbps_frame from = {
        .rows = row_count, .count = count, .columns = columns, .sparse = matrix};
    sbps_status status = rows_from_columns(&from, &spec, &data, err);
    return status == SBPS_OK ? wrap(data, out, err) : status;
}

sbps_status sbps_table_from_arrow(struct ArrowArrayStream *stream, const sbps_options *options,
                                  sbps_convert_watch watch, void *self, sbps_table **out,
                                  sbps_error *err)
{
    rows *data;
    REQUIRE(stream);
    if (!out || !options) { /* the stream is released in every case */
        if (stream->release) stream->release(stream);
        if (out) *out = NULL;
        return fail(err, SBPS_BAD_ARG, "sbps_table_from_arrow: the argument %s is NULL",
                    out ? "options" : "out");
    }
    rows_spec spec = watched_spec(options, watch, self);
    *out = NULL;
    sbps_status status = rows_from_arrow(stream, &spec, &data, err);
    return status == SBPS_OK ? wrap(data, out, err) : status;
}

sbps_status sbps_table_none(sbps_table **out, sbps_error *err)
{
    rows *data;
    REQUIRE_OUT(out);
    sbps_status status = rows_none(&data, err);
    return status == SBPS_OK ? wrap(data, out, err) : status;
}

sbps_status sbps_table_convert(const char *from, const char *to, const sbps_options *options,
                               size_t memory, sbps_convert_watch watch, void *self,
                               sbps_error *err)
{
    REQUIRE(from);
    REQUIRE(to);
    REQUIRE(options);
    return convert_table(from, to, options, memory, watch, self, err);
}

const char *sbps_table_notes(const sbps_table *table)
{
    return table && table->data->table.notes ? table->data->table.notes : "";
}

size_t sbps_table_rows(const sbps_table *table)
{
    if (!table) return 0;
    const rows *data = table->data->member_rows ? table->data->member_rows : table->data;
    return data->local_rows;
}

double sbps_table_passes(const sbps_table *table)
{
    if (!table) return 0.0;
    return (double)atomic_load(table->visited) / (double)table->data->local_rows;
}

void sbps_table_interrupt(sbps_table *table)
{
    if (table) atomic_store(&table->stopped, true);
}

void sbps_table_destroy(sbps_table *table)
{
    if (!table) return;
    free(table->visited);
    rows_destroy(table->data);
    free(table);
}

sbps_status sbps_simulate(const char *name, size_t row_count, size_t dim, uint64_t seed,
                          const char *path, const char *truth, sbps_error *err)
{
    REQUIRE(name);
    REQUIRE(path);
    return simulate_table(name, row_count, dim, seed, path, truth, err);
}

sbps_status sbps_generate(const char *name, size_t row_count, size_t dim, uint64_t seed,
                          const char *path, const char *truth, sbps_error *err)
{
    REQUIRE(name);
    REQUIRE(path);
    return generate_table(name, row_count, dim, seed, path, truth, err);
}
