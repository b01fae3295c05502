/* Rows of a group lie one behind another, whatever their order in the text was: so the table is made in memory as for
 * a run, and written as it lies there. */
#include "ingest/convert_groups.h"

#include "core/text.h"
#include "ingest/text/converted.h"
#include "table/mapped_table.h"
#include "table/row_groups_bytes.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static sbps_status fail_written(const table_job *job, int error, sbps_error *err)
{
    return fail(err, SBPS_NO_FILE, "%s: cannot be written: %s", job->to,
                strerrordesc_np(error));
}

static const char *or_empty(const char *value)
{
    return value ? value : "";
}

/* All strings one after another, as table.h has them; NULL: no memory. */
static char *make_text(const rows *r, const rows_spec *spec, size_t *size)
{
    text all = {0};
    char *categories = table_list(spec->categorical);
    const char *const strings[TEXTS] = {[TEXT_TARGET] = r->target,
                                        [TEXT_FEATURES] = "",
                                        [TEXT_COLUMNS] = "",
                                        [TEXT_CATEGORICAL] = categories,
                                        [TEXT_WEIGHTS] = or_empty(spec->weights),
                                        [TEXT_OFFSET] = or_empty(spec->offset)};
    all.failed = !categories;
    for (size_t i = 0; !all.failed && i < TEXTS; i++)
        text_bytes(&all, strings[i], strlen(strings[i]) + 1);
    for (size_t j = 0; j < r->d; j++) text_bytes(&all, r->names[j], strlen(r->names[j]) + 1);
    text_bytes(&all, or_empty(r->notes), strlen(or_empty(r->notes)) + 1);
    for (size_t k = 0; k < r->label_count; k++)
        text_bytes(&all, r->labels[k], strlen(r->labels[k]) + 1);
    *size = all.length;
    free(categories);
    return text_take(&all);
}

static table_header make_grouped_header(const rows *r, const rows_spec *spec, size_t text_size)
{
    uint64_t row_bytes = r->n * sizeof(double), column_bytes = r->d * sizeof(double);
    table_header h = {.version = TABLE_VERSION_DESIGN,
                      .bytes = TABLE_PAGE,
                      .rows = r->n,
                      .columns = r->d,
                      .stride = r->stride,
                      .hash = r->hash,
                      .seed = r->seed};
    memcpy(h.magic, TABLE_MAGIC, sizeof h.magic);
    if (r->intercept) h.flags |= TABLE_INTERCEPT;
    if (spec->standardize) h.flags |= TABLE_STANDARDIZED;
    strncpy(h.storage, r->storage->name, sizeof h.storage - 1);
    h.section[SECTION_Y] = table_add_section(&h, row_bytes);
    h.section[SECTION_WEIGHT] = table_add_section(&h, r->weight ? row_bytes : 0);
    h.section[SECTION_OFFSET] = table_add_section(&h, r->offset ? row_bytes : 0);
    h.section[SECTION_MEAN] = table_add_section(&h, column_bytes);
    h.section[SECTION_SD] = table_add_section(&h, column_bytes);
    h.section[SECTION_TEXT] = table_add_section(&h, text_size);
    h.groups = table_add_section(&h, groups_write(r->groups, r->n, spec->formula, NULL));
    h.section[SECTION_X] = table_add_section(&h, (uint64_t)r->storage->bytes(r));
    h.design = table_add_section(&h, strlen(r->design) + 1);
    h.design_crc = table_design_crc(r->design);
    return h;
}

static void copy_sections(table_header *h, const rows *r, const rows_spec *spec,
                          const char *strings, unsigned char *base)
{
    const void *from[SECTIONS] = {
        [SECTION_X] = r->x ? (const void *)r->x : r->x_float,
        [SECTION_Y] = r->y,
        [SECTION_WEIGHT] = r->weight,
        [SECTION_OFFSET] = r->offset,
        [SECTION_MEAN] = r->mean,
        [SECTION_SD] = r->sd,
        [SECTION_TEXT] = strings,
    };
    for (size_t k = 0; k < SECTIONS; k++)
        if (h->section[k].size > 0)
            memcpy(base + h->section[k].at, from[k], h->section[k].size);
    groups_write(r->groups, r->n, spec->formula, base + h->groups.at);
    memcpy(base + h->design.at, r->design, h->design.size);
    h->tail_crc = table_tail_crc(h, base);
    h->crc = table_crc(h);
    memcpy(base, h, sizeof *h);
}

static sbps_status write_rows(const table_job *job, const rows *r, const rows_spec *spec,
                              sbps_error *err)
{
    size_t text_size;
    int error;
    char *strings = make_text(r, spec, &text_size);
    if (!strings) return fail_memory(err);
    table_header h = make_grouped_header(r, spec, text_size);
    do error = posix_fallocate(job->file, 0, (off_t)h.bytes);
    while (error == EINTR);
    void *base = error ? MAP_FAILED
                       : mmap(NULL, h.bytes, PROT_READ | PROT_WRITE, MAP_SHARED, job->file, 0);
    sbps_status status = SBPS_OK;
    if (base == MAP_FAILED)
        status = fail_written(job, error ? error : errno, err);
    else {
        copy_sections(&h, r, spec, strings, base);
        munmap(base, h.bytes);
    }
    free(strings);
    return status;
}

sbps_status grouped_write(const table_job *job, const file_list *files, const rows_spec *spec,
                          sbps_error *err)
{
    rows *r;
    rows_spec dense = *spec;
    bool single = spec->storage && !strcmp(spec->storage, "float");
    dense.storage = single ? "float" : "double";
    dense.watch = job->watch;
    dense.watcher = job->self;
    sbps_status status = rows_from_files(files, &dense, &r, err);
    if (status == SBPS_OK) status = write_rows(job, r, spec, err);
    rows_destroy(r);
    return status;
}
