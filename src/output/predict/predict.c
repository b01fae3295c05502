/* Each block of rows is formatted into a text of its own; the texts are written in the order of
 * the file. For NetCDF the text holds the numbers themselves. */
#include "output/predict/predict.h"

#include "core/decimal.h"
#include "core/memory.h"
#include "core/printable.h"
#include "core/rng.h"
#include "core/text.h"
#include "core/threads.h"
#include "output/predict/loo.h"
#include "output/predict/predictor_draws.h"
#include "output/predict/row_stream.h"
#include "output/predict/value_summary.h"
#include "store/atomic_file.h"
#include "store/prediction_file.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LINE_BYTES ((size_t)96)
#define CELL_BYTES ((size_t)20)

typedef struct {
    const predictor_draws *f;
    const sbps_prediction *how;
    prediction_kind kind;
    double interval; /* its probability */
    const char *run;
    text *made;       /* [block of the batch]: its lines, or the numbers of an array */
    atomic_file file; /* the output, unless `how` has a function that takes it */
    bool to_file;
    prediction_file *array; /* NetCDF output; NULL: text */
    const uint16_t *encoding;
    size_t *origin; /* rows of a converted table in the text; NULL: the same */
} prediction_job;

/* ---- options ---- */

/* Finds the value of an option among its choices; a NULL value selects the first. */
static sbps_status read_choice(const char *option, const char *value,
                               const char *const *choices, size_t count, size_t *out,
                               sbps_error *err)
{
    *out = 0;
    for (size_t k = 0; k < count; k++) {
        *out = k;
        if (!value || strcmp(value, choices[k]) == 0) return SBPS_OK;
    }
    return fail(err, SBPS_BAD_ARG, "--%s: unknown value '%s'%s", option, show_name(value).text,
                nearest_or_all(value, choices, count).text);
}

/* Reads the option --kind. */
static sbps_status read_kind(const char *value, prediction_kind *out, sbps_error *err)
{
    static const char *const choices[] = {"mean", "linear", "outcome", "density", "response"};
    static const prediction_kind kinds[] = {PREDICTION_MEAN, PREDICTION_LINEAR,
                                            PREDICTION_OUTCOME, PREDICTION_DENSITY,
                                            PREDICTION_RESPONSE};
    size_t selected;
    sbps_status status = read_choice("kind", value, choices, 5, &selected, err);
    *out = kinds[selected];
    return status;
}

sbps_status text_encoding_read(const char *name, const uint16_t **out, sbps_error *err)
{
    static const char *const choices[] = {"utf-8", "latin1", "windows-1252"};
    size_t selected;
    sbps_status status =
        read_choice("encoding", name ? name : choices[0], choices, 3, &selected, err);
    *out = status == SBPS_OK ? encoding_find(choices[selected]) : NULL;
    return status;
}

sbps_status new_levels_read(const char *value, bool *prior, sbps_error *err)
{
    static const char *const choices[] = {"error", "prior"};
    size_t selected;
    sbps_status status = read_choice("new-levels", value, choices, 2, &selected, err);
    *prior = selected == 1;
    return status;
}

/* ---- rows ---- */

/* Computes the requested draws of a row into its block's scratch. */
static void evaluate_row(const prediction_job *j, const row_block *b, size_t i)
{
    rng random = rng_stream(j->f->seed, b->index[i], RNG_PREDICT);
    if (j->kind == PREDICTION_DENSITY)
        row_loglik(j->f, b, i, b->value);
    else
        predictor_draws_row(j->f, j->kind, b, i, &random, b->value);
}

/* ---- lines ---- */

/* Lines per row: one per class, or per eta of a linear predictor, else one. */
static size_t lines_of(const prediction_job *j)
{
    if (j->kind == PREDICTION_DENSITY) return 1;
    return j->kind == PREDICTION_LINEAR ? j->f->outputs : predictor_draws_lines(j->f);
}

static bool has_classes(const prediction_job *j)
{
    return lines_of(j) > 1;
}

/* Appends a comma and a number. */
static void add_cell(text *t, double value)
{
    char cell[TEN_DIGITS_SIZE + 1] = ",";
    size_t length = ten_digits(cell + 1, value);
    text_bytes(t, cell, length + 1);
}

static size_t number_of(const prediction_job *j, size_t row)
{
    return (j->origin ? j->origin[row] : row) + 1;
}

/* The first cells of a line: the row number and, with classes, the name of the class. */
static void begin_line(const prediction_job *j, text *t, size_t row, size_t line)
{
    /* without the cost of printf */
    size_t count = number_of(j, row);
    char digits[24], *at = digits + sizeof digits;
    do *--at = (char)('0' + count % 10);
    while (count /= 10);
    text_bytes(t, at, (size_t)(digits + sizeof digits - at));
    if (!has_classes(j)) return;
    text_bytes(t, ",", 1);
    text_csv_field(t, j->f->class[line]);
}

/* A row with missing cells: empty cells. */
static void add_empty_row(const prediction_job *j, text *t, size_t row)
{
    size_t cells = j->how->draws ? j->f->draws : 5;
    for (size_t line = 0; line < lines_of(j); line++) {
        begin_line(j, t, row, line);
        for (size_t k = 0; k < cells; k++) text_add(t, ",");
        text_add(t, "\n");
    }
}

/* Five cells: mean, sd and quantiles of n draws. */
static void add_summary(const prediction_job *j, text *t, size_t n, double *value)
{
    value_summary s = summarise_values(j->f->k, n, value, j->interval);
    const double cells[] = {s.mean, s.sd, s.low, s.median, s.high};
    for (size_t k = 0; k < 5; k++) add_cell(t, cells[k]);
}

/* The lines of a row, with summaries or all draws. */
static void format_row(const prediction_job *j, text *t, const row_block *b, size_t i)
{
    size_t draws = j->f->draws;
    evaluate_row(j, b, i);
    for (size_t line = 0; line < lines_of(j); line++) {
        double *value = b->value + line * draws;
        begin_line(j, t, b->index[i], line);
        for (size_t s = 0; j->how->draws && s < draws; s++) add_cell(t, value[s]);
        if (!j->how->draws) add_summary(j, t, draws, value);
        text_bytes(t, "\n", 1);
    }
}

/* A row of an array: its number, then all draws; NAN for missing cells. */
static void add_numbers(const prediction_job *j, text *t, const row_block *b, size_t i)
{
    size_t count = lines_of(j) * j->f->draws;
    double number = (double)number_of(j, b->index[i]);
    if (b->state[i] == ROW_WHOLE)
        evaluate_row(j, b, i);
    else
        for (size_t s = 0; s < count; s++) b->value[s] = NAN;
    text_bytes(t, (const char *)&number, sizeof number);
    text_bytes(t, (const char *)b->value, count * sizeof *b->value);
}

/* Formats the rows of a block into its text, on any thread. */
static sbps_status format_block(void *self, unsigned worker, size_t slot, row_block *b,
                                sbps_error *err)
{
    const prediction_job *j = self;
    text *t = &j->made[slot];
    (void)worker;
    text_cut(t, 0);
    for (size_t i = 0; i < b->n; i++)
        if (j->array)
            add_numbers(j, t, b, i);
        else if (b->state[i] == ROW_WHOLE)
            format_row(j, t, b, i);
        else
            add_empty_row(j, t, b->index[i]);
    return t->failed ? fail_memory(err) : SBPS_OK;
}

/* ---- output ---- */

/* Writes to the file or to the caller's function. */
static sbps_status write_bytes(prediction_job *j, const char *bytes, size_t count,
                               sbps_error *err)
{
    if (j->to_file) {
        file_write(&j->file, bytes, count);
        return file_fine(&j->file) ? SBPS_OK : file_seal(&j->file, err);
    }
    if (j->how->take(j->how->self, bytes, count)) return SBPS_OK;
    return fail(err, SBPS_NO_FILE, "predictions cannot be written");
}

/* Writes the rows of a block to the array. */
static sbps_status put_numbers(prediction_job *j, const text *t, double *row, sbps_error *err)
{
    size_t each = (1 + lines_of(j) * j->f->draws) * sizeof *row;
    sbps_status status = SBPS_OK;
    for (size_t at = 0; status == SBPS_OK && at < t->length; at += each) {
        memcpy(row, t->data + at, each); /* the bytes of a text are not aligned */
        status = prediction_file_put(j->array, (size_t)row[0], row + 1, err);
    }
    return status;
}

/* Writes the arrays of a batch, in the order of the file. */
static sbps_status write_block_arrays(void *self, size_t blocks, sbps_error *err)
{
    prediction_job *j = self;
    double *row = new_doubles(1 + lines_of(j) * j->f->draws);
    sbps_status status = row ? SBPS_OK : fail_memory(err);
    for (size_t k = 0; status == SBPS_OK && k < blocks; k++)
        status = put_numbers(j, &j->made[k], row, err);
    free(row);
    return status;
}

/* Writes the texts of a batch, in the order of the file. */
static sbps_status write_blocks(void *self, size_t blocks, sbps_error *err)
{
    prediction_job *j = self;
    sbps_status status = SBPS_OK;
    for (size_t k = 0; status == SBPS_OK && k < blocks; k++)
        if (j->made[k].length > 0)
            status = write_bytes(j, j->made[k].data, j->made[k].length, err);
    return status;
}

/* Writes the column names. */
static sbps_status put_header(prediction_job *j, sbps_error *err)
{
    text t = {0};
    text_add(&t, has_classes(j) ? "row,class" : "row");
    for (size_t s = 0; j->how->draws && s < j->f->draws; s++) text_add(&t, ",draw%zu", s + 1);
    double tail = 50.0 * (1.0 - j->interval); /* % */
    if (j->how->draws)
        text_add(&t, "\n");
    else
        text_add(&t, ",mean,sd,q%.6g,q50,q%.6g\n", tail, 100.0 - tail);
    sbps_status status = t.failed ? fail_memory(err) : write_bytes(j, t.data, t.length, err);
    text_free(&t);
    return status;
}

/* ---- predictions ---- */

/* Reads and predicts all rows, and fills the report. */
static sbps_status run_job(prediction_job *j, const char *data, sbps_predicted *out,
                           sbps_error *err)
{
    bool known = j->kind == PREDICTION_DENSITY || j->kind == PREDICTION_RESPONSE;
    size_t cells = j->how->draws ? j->f->draws * CELL_BYTES : LINE_BYTES;
    const row_stream s = {.f = j->f,
                          .data = data,
                          .frame = j->how->frame,
                          .request = {.target = known,
                                      .trials = known || j->kind == PREDICTION_OUTCOME,
                                      .encoding = j->encoding},
                          .threads = j->how->threads,
                          .batch_bytes = cells * lines_of(j),
                          .self = j,
                          .block = format_block,
                          .finish_blocks = j->array ? write_block_arrays : write_blocks};
    stream_count count;
    double begin = clock_now();
    sbps_status status = j->array ? SBPS_OK : put_header(j, err);
    if (status == SBPS_OK) status = stream_rows(&s, &count, err);
    if (status != SBPS_OK) return status;
    *out = (sbps_predicted){.rows = count.rows,
                            .lacking = count.lacking,
                            .not_finite = count.not_finite,
                            .draws = j->f->draws,
                            .all_draws = j->f->r->chains * j->f->r->draws,
                            .seconds = clock_now() - begin,
                            .all_levels_new = predictor_draws_all_new(j->f)};
    memcpy(out->column, count.column, sizeof out->column);
    return SBPS_OK;
}

/* Predicts into a NetCDF file, which is complete or absent. */
static sbps_status write_array(prediction_job *j, const char *data, sbps_predicted *out,
                               sbps_error *err)
{
    static const char *const kinds[] = {[PREDICTION_MEAN] = "mean",
                                        [PREDICTION_LINEAR] = "linear",
                                        [PREDICTION_OUTCOME] = "outcome",
                                        [PREDICTION_DENSITY] = "density",
                                        [PREDICTION_RESPONSE] = "response"};
    const prediction_shape shape = {.draws = j->f->draws,
                                    .classes = has_classes(j) ? lines_of(j) : 0,
                                    .class = (const char *const *)j->f->class,
                                    .kind = kinds[j->kind],
                                    .run = j->run};
    if (!j->how->draws)
        return fail(
            err, SBPS_BAD_ARG,
            "--output: %s: NetCDF output holds all draws: add --draws, or write to a .csv",
            j->how->path);
    sbps_status status = prediction_file_open(j->how->path, &shape, &j->array, err);
    if (status != SBPS_OK) return status;
    status = run_job(j, data, out, err);
    if (status == SBPS_OK) return prediction_file_commit(j->array, err);
    prediction_file_abandon(j->array);
    return status;
}

/* Predicts into the file of the option --output, or to the caller's function. */
static sbps_status write_job(prediction_job *j, const char *data, sbps_predicted *out,
                             sbps_error *err)
{
    if (prediction_file_matches(j->how->path)) return write_array(j, data, out, err);
    j->to_file = j->how->path;
    sbps_status status = j->to_file ? file_begin(j->how->path, &j->file, err) : SBPS_OK;
    if (status != SBPS_OK) return status;
    status = run_job(j, data, out, err);
    if (!j->to_file) return status;
    if (status == SBPS_OK) return file_commit(&j->file, err);
    file_abandon(&j->file);
    return status;
}

sbps_status predict_rows(const result *r, const char *run, const char *data,
                         const sbps_prediction *how, sbps_predicted *out, sbps_error *err)
{
    prediction_job j = {.how = how, .run = run, .interval = how->interval};
    if (j.interval == 0.0) j.interval = 0.9;
    predictor_draws *f = NULL;
    predictor_options choice = {.seed = how->seed, .max_draws = how->max_draws};
    *out = (sbps_predicted){0};
    if (!(j.interval > 0.0 && j.interval < 1.0))
        return fail(err, SBPS_BAD_ARG, "interval: %g: expected a number between 0 and 1",
                    j.interval);
    sbps_status status = read_kind(how->kind, &j.kind, err);
    if (status == SBPS_OK) status = text_encoding_read(how->encoding, &j.encoding, err);
    if (status == SBPS_OK) status = new_levels_read(how->new_levels, &choice.new_levels, err);
    if (status == SBPS_OK) status = predictor_draws_open(r, run, choice, &f, err);
    j.f = f;
    j.made = calloc(SLOTS_MAX, sizeof *j.made);
    if (status == SBPS_OK && !j.made) status = fail_memory(err);
    const row_stream from = {.f = f, .data = data, .frame = how->frame};
    if (status == SBPS_OK) status = stream_origins(&from, 0, NULL, &j.origin, err);
    if (status == SBPS_OK) status = write_job(&j, data, out, err);
    for (size_t k = 0; j.made && k < SLOTS_MAX; k++) text_free(&j.made[k]);
    free(j.made);
    free(j.origin);
    predictor_draws_close(f);
    return status;
}
