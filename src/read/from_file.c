/* A file becomes a shuffled design matrix: columns are planned, rows are checked one by one and kept
 * in chunks, chunks become the table. A converted table is mapped instead. */
#include "base/memory.h"
#include "data/table.h"
#include "read/converted.h"
#include "read/source.h"
#include "read/storage.h"

/* A packed entry takes a slot and a value, so that packing pays up to two thirds; it also costs
 * time. */
#define PACK_BELOW 0.5

static sbps_status sign(rows *r, const char *source, size_t dropped, sbps_error *err)
{
    r->dropped = dropped;
    r->source = copy_text(source);
    return source && !r->source ? fail_memory(err) : SBPS_OK;
}

/* Before each new chunk: what is read so far will be there twice before the end. A file's rows
 * cannot be counted beforehand, and Linux kills where malloc should have failed. */
static sbps_status check_memory(const plan *p, const chunks *read, sbps_error *err)
{
    if (read->rows % read->per_chunk != 0) return SBPS_OK;
    double n = (double)read->rows, d = (double)read->width;
    return memory_holds(p->path, n, d, 2 * chunks_bytes(read), err);
}

static sbps_status read_rows(row_source *s, chunks *read, sbps_error *err)
{
    row_fate fate = ROW_KEPT;
    while (fate != ROW_END) {
        sbps_status status = check_memory(s->plan, read, err);
        if (status != SBPS_OK) return status;
        double *row = chunks_next(read);
        if (!row) return fail_memory(err);
        if ((status = source_next(s, row, &fate, err)) != SBPS_OK) return status;
        if (fate == ROW_KEPT && !chunks_keep(read)) return fail_memory(err);
    }
    return SBPS_OK;
}

/* Signed, or destroyed. */
static sbps_status sign_or_destroy(rows **r, const char *source, size_t dropped,
                                   sbps_error *err)
{
    sbps_status status = sign(*r, source, dropped, err);
    if (status == SBPS_OK) return SBPS_OK;
    rows_destroy(*r);
    *r = NULL;
    return status;
}

static sbps_status read_map(const char *path, const rows_spec *spec, rows **out,
                            sbps_error *err)
{
    sbps_status status = converted_read(path, spec, out, err);
    return status == SBPS_OK ? sign_or_destroy(out, path, SIZE_MAX, err) : status;
}

sbps_status rows_read(const char *path, const rows_spec *spec, rows **out, sbps_error *err)
{
    row_source s;
    chunks read = {0};
    *out = NULL;
    if (table_recognise(path)) return read_map(path, spec, out, err);
    sbps_status status = source_open(path, spec, &s, err);
    if (status != SBPS_OK) goto done;
    if ((status = storage_fits(s.plan, spec, err)) != SBPS_OK) goto done;
    chunks_init(&read, s.plan->width, s.names.filled < PACK_BELOW);
    if ((status = read_rows(&s, &read, err)) != SBPS_OK) goto done;
    status = design_create(s.plan, spec, &read, out, err);
    if (status == SBPS_OK) status = sign_or_destroy(out, path, s.dropped, err);
done:
    chunks_clear(&read);
    source_close(&s);
    return status;
}
