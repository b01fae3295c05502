/* Draws as CSV (RFC 4180 with plain line feeds): chain,draw,<names...>, counted from 0 as in
 * the NetCDF file. */
#include "core/decimal.h"
#include "store/result.h"

#include "core/text.h"
#include "store/atomic_file.h"

#include <stdlib.h>

static sbps_status make_header(const result *r, char **out, sbps_error *err)
{
    text header = {0};
    text_add(&header, "chain,draw");
    for (size_t j = 0; j < r->dim; j++) {
        text_add(&header, ",");
        text_csv_field(&header, r->names[j] ? r->names[j] : "");
    }
    text_add(&header, "\n");
    return text_give(&header, out, err);
}

static void put_draw(const result *r, size_t chain, size_t draw, FILE *stream)
{
    const double *w = r->w + (chain * r->draws + draw) * r->dim;
    fprintf(stream, "%zu,%zu", chain, draw);
    for (size_t j = 0; j < r->dim; j++) {
        fputc(',', stream);
        put_number(stream, w[j]);
    }
    fputc('\n', stream);
}

sbps_status result_write_csv(const result *r, const char *path, sbps_error *err)
{
    char *header;
    number_locale locale;
    atomic_file file;
    sbps_status status = make_header(r, &header, err);
    if (status != SBPS_OK) return status;
    if ((status = numbers_begin(&locale, err)) != SBPS_OK) goto free_header;
    if ((status = file_begin(path, &file, err)) != SBPS_OK) goto done;
    fputs(header, file.stream);
    for (size_t chain = 0; chain < r->chains; chain++)
        for (size_t draw = 0; draw < r->draws && file_fine(&file); draw++)
            put_draw(r, chain, draw, file.stream);
    status = file_commit(&file, err);
done:
    numbers_end(&locale);
free_header:
    free(header);
    return status;
}
