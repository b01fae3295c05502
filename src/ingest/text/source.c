/* Opens text, format, columns and schema, in this order, and infers types from the first rows.
 *
 * Rows are read with the types known so far. A cell that contradicts its column's type ends the
 * reading; source_retype then infers types from all cells, and the caller opens the source
 * again. */
#include "ingest/text/source.h"

#include <stdio.h>

#define SNIFF_BYTES ((size_t)64 * 1024) /* of rows from which types are first inferred */

static const format_kind *const formats[] = {FORMAT_KINDS(KIND_LISTED) NULL};

/* Returns the format that recognises the text; CSV if no other does. */
static const format_kind *format_of(const text_file *source)
{
    for (size_t i = 0; formats[i]; i++)
        if (formats[i]->recognise(source->at, source->limit)) return formats[i];
    return &format_csv;
}

sbps_status check_row_count(const char *path, size_t kept, size_t dropped, sbps_error *err)
{
    char after[80] = "";
    if (kept >= 2) return SBPS_OK;
    if (dropped > 0)
        snprintf(after, sizeof after, " left after %zu with missing values were dropped",
                 dropped);
    return fail(err, SBPS_BAD_DATA,
                "%s: the table has %s row%s%s; a posterior needs at least two", path,
                kept ? "one" : "no", kept ? "" : "s", after);
}

/* Infers types of columns from the first rows. */
static sbps_status sniff(row_source *s, column_types *types, sbps_error *err)
{
    if (!s->kind->sniff) return SBPS_OK;
    sbps_status status = column_types_fit(types, s->names.count, s->source->path, err);
    if (status != SBPS_OK) return status;
    s->names.types = types;
    return s->kind->sniff(s->self, &s->names, SNIFF_BYTES, err);
}

sbps_status source_begin(const text_input *from, const rows_spec *spec, column_types *types,
                         row_source *s, sbps_error *err)
{
    *s = (row_source){0};
    sbps_status status = text_file_open(from, spec->encoding, &s->source, err);
    if (status != SBPS_OK) return status;
    s->kind = format_of(s->source);
    status = s->kind->open(s->source, spec, &s->names, &s->self, err);
    if (status == SBPS_OK) status = na_strings_create(spec->na, &s->missing, err);
    s->names.missing = &s->missing;
    return status == SBPS_OK ? sniff(s, types, err) : status;
}

sbps_status source_open(const text_input *from, const rows_spec *spec, column_types *types,
                        row_source *s, sbps_error *err)
{
    sbps_status status = source_begin(from, spec, types, s, err);
    if (status == SBPS_OK)
        status = schema_create(s->source->path, &s->names, spec, &s->schema, err);
    if (status == SBPS_OK) s->schema->learns = s->names.types != NULL;
    return status;
}

/* Any status of reading is returned unless sniffing fails: the caller repeats the reading by
 * types->changed. */
sbps_status source_retype(row_source *s, sbps_status status, sbps_error *err)
{
    column_types *types = s->names.types;
    if (!types || !types->changed) return status;
    return s->kind->sniff(s->self, &s->names, SIZE_MAX, err) == SBPS_OK ? status
                                                                        : SBPS_BAD_FILE;
}

sbps_status source_next(row_source *s, double *row, row_fate *fate, sbps_error *err)
{
    sbps_status status = s->kind->next(s->self, s->schema, row, fate, err);
    if (status != SBPS_OK) return status;
    s->kept += *fate == ROW_KEPT;
    s->dropped += *fate == ROW_DROPPED;
    return *fate == ROW_END && !s->of_several
               ? check_row_count(s->schema->path, s->kept, s->dropped, err)
               : SBPS_OK;
}

void source_close(row_source *s)
{
    schema_destroy(s->schema);
    na_strings_clear(&s->missing);
    if (s->self) s->kind->close(s->self);
    columns_clear(&s->names);
    text_file_close(s->source);
}
