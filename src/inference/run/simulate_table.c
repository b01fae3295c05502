/* Synthetic tables by the recipe of the paper's section 7.1:
 *
 *   w ~ U[-5,5]^d,   x ~ N(0, diag(6, 1, ..., 1)),   y ~ p(. | w.x)
 *
 * with auxiliaries where the model starts in units of its own: sigma = 1.
 *
 * Counts have rates exp(w.x), which weights of that size would send to e^50: for them w ~ U[-r,r]^d,
 * r = 1/2, and (1/2) sqrt(20/d) from d = 20 on, so that w.x has an sd of 1.4 at most.
 *
 * General models say themselves what a row of theirs is.
 *
 * x is rounded to the 6 decimals that are written before y is drawn, so that the table is an
 * exact sample of the model. */
#include "inference/run/simulate_table.h"
#include "core/decimal.h"
#include "core/kind_tables.h"
#include "core/memory.h"
#include "core/printable.h"
#include "core/rng.h"
#include "model/likelihood/generated_targets.h"
#include "model/likelihood/model.h"
#include "store/atomic_file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#define ZLIB_CONST /* its input is const */
#include <zlib.h>

#define DIM_MAX    1000000
#define NUMBER_MAX 32    /* characters of one number and its comma */
#define ROW_BYTES  65536 /* pressed at a time */

/* ---- bytes to a file, pressed by gzip where its name ends in .gz ---- */

typedef struct {
    atomic_file file;
    bool pressed;
    z_stream press;
    unsigned char out[ROW_BYTES];
} writer;

static bool ends_in_gz(const char *path)
{
    size_t length = strlen(path);
    return length > 3 && strcmp(path + length - 3, ".gz") == 0;
}

static sbps_status writer_open(writer *to, const char *path, sbps_error *err)
{
    sbps_status status = file_begin(path, &to->file, err);
    if (status != SBPS_OK) return status;
    to->pressed = ends_in_gz(path);
    to->press = (z_stream){0};
    if (!to->pressed || deflateInit2(&to->press, Z_DEFAULT_COMPRESSION, Z_DEFLATED,
                                     15 + 16 /* gzip */, 8, Z_DEFAULT_STRATEGY) == Z_OK)
        return SBPS_OK;
    file_abandon(&to->file);
    return fail_memory(err);
}

static void press(writer *to, const char *bytes, size_t size, int flush)
{
    to->press.next_in = (const unsigned char *)bytes;
    to->press.avail_in = (uInt)size;
    do {
        to->press.next_out = to->out;
        to->press.avail_out = sizeof to->out;
        deflate(&to->press, flush);
        file_write(&to->file, to->out, sizeof to->out - to->press.avail_out);
    } while (to->press.avail_out == 0);
}

static void writer_put(writer *to, const char *bytes, size_t size)
{
    if (!to->pressed) {
        file_write(&to->file, bytes, size);
        return;
    }
    for (size_t done = 0; done < size; done += ROW_BYTES)
        press(to, bytes + done, size - done < ROW_BYTES ? size - done : ROW_BYTES, Z_NO_FLUSH);
}

/* Everything on the disk, the name still to be given. */
static sbps_status writer_seal(writer *to, sbps_error *err)
{
    if (to->pressed) press(to, "", 0, Z_FINISH);
    return file_seal(&to->file, err);
}

static void writer_close(writer *to)
{
    if (to->pressed) deflateEnd(&to->press);
    file_abandon(&to->file);
}

/* ---- numbers ---- */

/* As printf's %.6f; several times as fast, and it is where the time goes. */
static char *put_fixed(char *at, double x)
{
    if (!(fabs(x) < 1e12)) return at + decimal_print(at, NUMBER_MAX, "%.6f", x);
    uint64_t units = (uint64_t)llround(fabs(x) * MODEL_DECIMALS);
    char digits[NUMBER_MAX];
    size_t count = 0;
    if (x < 0.0 && units > 0) *at++ = '-';
    do {
        digits[count++] = (char)('0' + units % 10);
        units /= 10;
    } while (units > 0 || count < 7);
    while (count > 6) *at++ = digits[--count];
    *at++ = '.';
    while (count > 0) *at++ = digits[--count];
    return at;
}

/* Targets that are counts or classes need no decimals; none that is positive may become 0, nor one below 1
 * become 1. */
static char *put_target(char *at, const model_kind *model, double y)
{
    if (model->support == SUPPORT_REAL) return put_fixed(at, y);
    bool positive = model->support == SUPPORT_POSITIVE, unit = model->support == SUPPORT_UNIT;
    return at + decimal_print(at, NUMBER_MAX, unit ? "%.17g" : positive ? "%.9g" : "%.0f", y);
}

/* ---- the recipe ---- */

typedef struct {
    const model_kind *model;
    size_t rows, dim, columns;
    rng random;
    double *w, *x; /* the auxiliary coordinates follow the weights */
    rows *made;    /* they are made elsewhere; NULL: here */
    char *line;
} recipe;

static bool has_target(const model_kind *model)
{
    return model->support != SUPPORT_NONE;
}

static void put_header(recipe *r, writer *to)
{
    bool target = has_target(r->model);
    if (target) writer_put(to, "y", 1);
    for (size_t j = 0; j < r->columns; j++)
        writer_put(
            to, r->line,
            (size_t)snprintf(r->line, NUMBER_MAX, "%sx%zu", target || j ? "," : "", j + 1));
    writer_put(to, "\n", 1);
}

/* x of the recipe into r->x; returns the target. */
static double draw_row(recipe *r)
{
    double y;
    model_simulate(r->model, &r->random, r->columns, r->w, r->x, &y);
    return y;
}

/* To the last bit. */
static void put_made(recipe *r, size_t i, writer *to)
{
    double scratch;
    const double y = *rows_targets(r->made, rows_from(i, 1), &scratch);
    char *at = r->line + decimal_print(r->line, NUMBER_MAX, "%.17g", y);
    r->made->storage.kind->decode(r->made, i, r->x);
    for (size_t j = 0; j < r->columns; j++)
        at += decimal_print(at, NUMBER_MAX, ",%.17g", r->x[j]);
    *at++ = '\n';
    writer_put(to, r->line, (size_t)(at - r->line));
}

static void put_row(recipe *r, writer *to)
{
    double y = draw_row(r);
    char *at = has_target(r->model) ? put_target(r->line, r->model, y) : r->line;
    for (size_t j = 0; j < r->columns; j++) {
        if (at > r->line) *at++ = ',';
        at = put_fixed(at, r->x[j]);
    }
    *at++ = '\n';
    writer_put(to, r->line, (size_t)(at - r->line));
}

static sbps_status write_table(recipe *r, writer *to, sbps_error *err)
{
    put_header(r, to);
    for (size_t i = 0; i < r->rows && file_fine(&to->file); i++) {
        if (r->made)
            put_made(r, i, to);
        else
            put_row(r, to);
    }
    return writer_seal(to, err);
}

static sbps_status write_truth(recipe *r, writer *to, sbps_error *err)
{
    char text[64];
    writer_put(to, "name,value\n", 11);
    for (size_t j = 0; j < r->dim; j++)
        writer_put(to, text,
                   (size_t)decimal_print(text, sizeof text, "x%zu,%.17g\n", j + 1, r->w[j]));
    for (size_t i = 0; i < r->model->auxiliary_count; i++) {
        const model_auxiliary *each = &r->model->auxiliaries[i];
        writer_put(
            to, text,
            (size_t)decimal_print(text, sizeof text, "%s,%.17g\n", each->name, each->start));
    }
    return writer_seal(to, err);
}

/* Both files are sealed before either gets its name. */
static sbps_status write_files(recipe *r, const char *path, const char *truth, sbps_error *err)
{
    writer *to = calloc(2, sizeof *to);
    if (!to) return fail_memory(err);
    sbps_status status = writer_open(&to[0], path, err);
    if (status != SBPS_OK) goto done;
    if (truth && (status = writer_open(&to[1], truth, err)) != SBPS_OK) goto close_table;
    status = write_table(r, &to[0], err);
    if (status == SBPS_OK && truth) status = write_truth(r, &to[1], err);
    if (status == SBPS_OK) status = file_commit(&to[0].file, err);
    if (status == SBPS_OK && truth) status = file_commit(&to[1].file, err);
    if (truth) writer_close(&to[1]);
close_table:
    writer_close(&to[0]);
done:
    free(to);
    return status;
}

static bool can_simulate(const model_kind *model)
{
    return model_simulates(model);
}

static sbps_status unknown_name(const char *name, sbps_error *err)
{
    const char *names[KINDS_MAX];
    size_t count = 0;
    for (size_t i = 0; model_kinds[i] && count < KINDS_MAX; i++)
        if (can_simulate(model_kinds[i])) names[count++] = model_kinds[i]->name;
    return fail(err, SBPS_BAD_ARG, "cannot simulate '%.80s'%s", name,
                nearest_or_all(name, names, count).text);
}

static sbps_status check_request(const char *name, size_t row_count, size_t dim,
                                 const char *path, const char *truth, sbps_error *err)
{
    const model_kind *model = model_find(name);
    if (!model || !can_simulate(model)) return unknown_name(name, err);
    if (row_count == 0) return fail(err, SBPS_BAD_ARG, "rows must be at least 1");
    if (dim == 0 || dim > DIM_MAX)
        return fail(err, SBPS_BAD_ARG, "dim must be between 1 and %d, not %zu", DIM_MAX, dim);
    if (truth && !model->facts.regression)
        return fail(err, SBPS_BAD_ARG, "%s draws no weights that truth could tell", name);
    if (truth && strcmp(path, truth) == 0)
        return fail(err, SBPS_BAD_ARG, "table and truth cannot both be written to %.200s",
                    path);
    return SBPS_OK;
}

static void draw_weights(recipe *r)
{
    double reach = model_reach(r->model, r->dim);
    for (size_t j = 0; j < r->dim; j++) r->w[j] = 2.0 * reach * rng_uniform(&r->random) - reach;
    for (size_t i = 0; i < r->model->auxiliary_count; i++) {
        const model_auxiliary *each = &r->model->auxiliaries[i];
        r->w[r->dim + i] = scale_coordinate(each->scale, each->start);
    }
}

static sbps_status write_recipe(recipe *r, const char *path, const char *truth, sbps_error *err)
{
    size_t coordinates = r->dim + r->model->auxiliary_count;
    r->w = new_doubles(coordinates + r->columns + KERNEL_LANES);
    r->line = malloc((r->columns + 2) * NUMBER_MAX);
    sbps_status status = r->w && r->line ? SBPS_OK : fail_memory(err);
    if (status == SBPS_OK) {
        r->x = r->w + coordinates;
        draw_weights(r);
        for (size_t j = 0; r->made && j < r->dim; j++)
            r->w[j] = r->made->storage.recipe->truth[j];
        status = write_files(r, path, truth, err);
    }
    free(r->line);
    free(r->w);
    return status;
}

sbps_status generate_table(const char *name, size_t row_count, size_t dim, uint64_t seed,
                           const char *path, const char *truth, sbps_error *err)
{
    sbps_status status = check_request(name, row_count, dim, path, truth, err);
    if (status != SBPS_OK) return status;
    recipe r = {.model = model_find(name), .rows = row_count, .dim = dim, .columns = dim};
    status = generated_rows(name, row_count, dim, false, seed, &r.made, err);
    if (status == SBPS_OK) status = write_recipe(&r, path, truth, err);
    rows_destroy(r.made);
    return status;
}

sbps_status simulate_table(const char *name, size_t row_count, size_t dim, uint64_t seed,
                           const char *path, const char *truth, sbps_error *err)
{
    sbps_status status = check_request(name, row_count, dim, path, truth, err);
    if (status != SBPS_OK) return status;
    recipe r = {.model = model_find(name), .rows = row_count, .dim = dim};
    r.random = rng_stream(seed, 0, RNG_SIMULATE);
    r.columns = model_columns(r.model, dim);
    return write_recipe(&r, path, truth, err);
}
