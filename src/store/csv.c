/* Draws as CSV (RFC 4180 with plain line feeds): chain,draw,<names...>, counted from 0 as in
 * the NetCDF file. */
#include "store/result.h"

#include "store/atomic.h"
#include "store/text.h"

static void put_header(const result *r, FILE *stream)
{
    fputs("chain,draw", stream);
    for (size_t j = 0; j < r->dim; j++) {
        fputc(',', stream);
        put_field(stream, r->names[j] ? r->names[j] : "");
    }
    fputc('\n', stream);
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
    number_locale locale;
    atomic_file file;
    sbps_status status = numbers_begin(&locale, err);
    if (status != SBPS_OK) return status;
    if ((status = file_begin(path, &file, err)) != SBPS_OK) goto done;
    put_header(r, file.stream);
    for (size_t chain = 0; chain < r->chains; chain++)
        for (size_t draw = 0; draw < r->draws && file_fine(&file); draw++)
            put_draw(r, chain, draw, file.stream);
    status = file_commit(&file, err);
done:
    numbers_end(&locale);
    return status;
}
