/* Several files with the same column names are one table: rows of a file follow those of the
 * file before. Each file is opened with a schema of its own to check its columns, and read with
 * the schema of the first. */
#include "ingest/text/table_files.h"

#include "core/printable.h"
#include "table/mapped_table.h"
#include <string.h>

/* Fails if the names of the columns differ; their number is the same, as types fit
 * (column_types_fit). */
static sbps_status check_same_names(const row_source *first, const row_source *s,
                                    sbps_error *err)
{
    const columns *a = &first->names, *b = &s->names;
    for (size_t i = 0; i < b->count; i++)
        if (strcmp(a->name[i], b->name[i]) != 0)
            return fail(err, SBPS_BAD_FILE, "%s:1: column %zu is '%s', but in %s it is '%s'",
                        s->source->path, i + 1, show_name(b->name[i]).text, first->source->path,
                        show_name(a->name[i]).text);
    return SBPS_OK;
}

sbps_status table_file_open(const text_input *from, const rows_spec *spec, column_types *types,
                            const row_source *first, row_source *s, sbps_error *err)
{
    *s = (row_source){0};
    if (table_recognise(from->path))
        return fail(err, SBPS_BAD_FILE, "%s: a converted table cannot be one of several files",
                    from->path);
    sbps_status status = source_open(from, spec, types, s, err);
    if (status == SBPS_OK && !s->names.types)
        status = fail(err, SBPS_BAD_FILE, "%s: when several files are read, all must be CSV",
                      from->path);
    if (status == SBPS_OK && first) status = check_same_names(first, s, err);
    s->of_several = true;
    return status;
}

/* Infers types from the first rows of every file. */
static sbps_status sniff_files(const file_list *files, const rows_spec *spec,
                               column_types *types, sbps_error *err)
{
    row_source first, s;
    sbps_status status = table_file_open(&files->input[0], spec, types, NULL, &first, err);
    for (size_t k = 1; status == SBPS_OK && k < files->count; k++) {
        status = table_file_open(&files->input[k], spec, types, &first, &s, err);
        source_close(&s);
    }
    source_close(&first);
    return status;
}

sbps_status table_files_open(const file_list *files, const rows_spec *spec, column_types *types,
                             row_source *first, sbps_error *err)
{
    *first = (row_source){0};
    if (files->count == 1) return source_open(&files->input[0], spec, types, first, err);
    sbps_status status = sniff_files(files, spec, types, err);
    return status == SBPS_OK ? table_file_open(&files->input[0], spec, types, NULL, first, err)
                             : status;
}

/* Reads the rows of one file with the schema of the first, whose path is that of this file
 * meanwhile. */
static sbps_status add_file(const text_input *from, const rows_spec *spec, column_types *types,
                            row_source *first, const row_taker *to, sbps_error *err)
{
    row_source s;
    sbps_status status = table_file_open(from, spec, types, first, &s, err);
    column_schema *own = s.schema;
    if (status == SBPS_OK) {
        s.schema = first->schema;
        s.schema->path = s.source->path;
        status = parts_read(&s, spec, to, err);
        s.schema->path = first->source->path;
        first->kept += s.kept;
        first->dropped += s.dropped;
    }
    s.schema = own;
    status = source_retype(&s, status, err);
    source_close(&s);
    return status;
}

sbps_status table_files_read(const file_list *files, const rows_spec *spec, column_types *types,
                             row_source *first, const row_taker *to, sbps_error *err)
{
    sbps_status status = SBPS_OK;
    if (files->count == 1) return parts_read(first, spec, to, err);
    for (size_t k = 0; status == SBPS_OK && k < files->count; k++)
        status = add_file(&files->input[k], spec, types, first, to, err);
    if (status != SBPS_OK) return status;
    return check_row_count(first->source->path, first->kept, first->dropped, err);
}
