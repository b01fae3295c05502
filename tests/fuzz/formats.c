/* Readers of all formats but CSV and libsvm text (readers.c) on any bytes: files of the kept
 * corpus, tests/fuzz/corpus/READER/, and files made here are changed at random, checksums made
 * right again half of the time, and become a valid object or an error message.
 *
 *   SBPS_FUZZ_CASES=100000   how many for each reader (1000)      SBPS_FUZZ_SEED=1   other ones
 *
 * What breaks a reader stays in the build folder as fuzz-READER.case, and belongs into the
 * corpus once it is understood. */
#include "check.h"
#include "ingest/convert_text.h"
#include "ingest/ingest.h"
#include "mutate.h"
#include "stat/sample.h"
#include "store/sample.h"

#include "inference/options/start_point.h"
#include "inference/options/target.h"
#include "inference/run/run.h"
#include "ingest/text/matrix.h"
#include "store/checkpoint.h"
#include "store/result.h"
#include "table/mapped_table.h"
#include "table/row_groups.h"

#include <zlib.h>

#define FEW       check_size(1e3, 1e4, 1e6)
#define EDITS_MAX 5
#define SEEDS_MAX 32

typedef struct {
    const char *name;
    token_list tokens;
    size_t head; /* bytes at the start that edits prefer: counts and places; 0: none */
    /* Optional: a file of this kind at `path`. */
    void (*make)(const char *path);
    /* Optional: checksums made right, where the document is long enough to have them. */
    void (*repair)(document *d);
    /* NULL, or what went wrong; *accepted: the bytes were such a file. */
    const char *(*read)(const char *path, bool *accepted);
} format;

/* ---- attack ---- */

static document seeds[SEEDS_MAX], changed;
static size_t seed_count;

static void load_seed(const char *path)
{
    size_t size;
    char *bytes = sample_bytes(path, &size);
    if (size > DOCUMENT_MAX || seed_count == SEEDS_MAX) abort();
    memcpy(seeds[seed_count].bytes, bytes, size);
    seeds[seed_count++].size = size;
    free(bytes);
}

static void load_corpus(const char *name)
{
    char path[1200];
    const char *root = getenv("SBPS_SOURCE_DIR");
    snprintf(path, sizeof path, "%s/tests/fuzz/corpus/%s", root ? root : ".", name);
    DIR *folder = opendir(path);
    for (struct dirent *e; folder && (e = readdir(folder));) {
        char file[1500];
        snprintf(file, sizeof file, "%s/%s", path, e->d_name);
        if (e->d_name[0] != '.') load_seed(file);
    }
    if (folder) closedir(folder);
}

static size_t number_from(const char *name, size_t otherwise)
{
    const char *text = getenv(name);
    return text && *text ? strtoul(text, NULL, 10) : otherwise;
}

static const char *attempt(const format *f, const char *path, const document *d, bool *accepted)
{
    sample_store(path, (const char *)d->bytes, d->size);
    *accepted = false;
    return f->read(path, accepted);
}

static void change(const format *f, document *d, rng *r)
{
    size_t edits = rng_below(r, EDITS_MAX + 1);
    for (size_t i = 0; i < edits; i++) {
        document *part = d;
        size_t whole = d->size;
        if (f->head && whole > f->head && rng_below(r, 2)) {
            part->size = f->head;
            replace_word(part, r);
            part->size = whole;
        } else {
            mutate(d, &f->tokens, r);
        }
    }
    if (f->repair && rng_below(r, 2)) f->repair(d);
}

/* False when a case went wrong. */
static bool fuzz_format(const format *f, const char *path)
{
    rng r = rng_stream(number_from("SBPS_FUZZ_SEED", 1), 0, RNG_TEST);
    size_t cases = number_from("SBPS_FUZZ_CASES", (size_t)FEW), taken = 0;
    for (size_t k = 0; k < seed_count + cases; k++) {
        bool accepted;
        changed = seeds[k < seed_count ? k : rng_below(&r, seed_count)];
        if (k >= seed_count) change(f, &changed, &r);
        const char *wrong = attempt(f, path, &changed, &accepted);
        if (wrong) {
            printf("%s, case %zu: %s; see %s\n", f->name, k, wrong, path);
            return false;
        }
        taken += accepted;
    }
    printf("%s: %zu cases, %zu taken\n", f->name, seed_count + cases, taken);
    /* else the changes test nothing beyond the first check */
    return taken > cases / 50 && taken < cases;
}

static void check_format(const format *f)
{
    char path[1200];
    const char *build = getenv("SBPS_BUILD_DIR");
    snprintf(path, sizeof path, "%s/fuzz-%s.case", build ? build : ".", f->name);
    seed_count = 0;
    load_corpus(f->name);
    if (f->make) {
        f->make(path);
        load_seed(path);
    }
    REQUIRE(seed_count > 0);
    bool good = fuzz_format(f, path);
    CHECK(good);
    if (good) unlink(path);
}

/* A refusal has a message that names the file. */
static const char *check_refusal(sbps_status status, const sbps_error *err, const char *path)
{
    if (status == SBPS_OK) return NULL;
    if (err->status != status || !memchr(err->text, '\0', sizeof err->text)) return "error";
    if (strlen(err->text) < 8 || (path && !strstr(err->text, path))) return "sentence";
    return NULL;
}

/* ---- tables on disk ---- */

static void make_by(const char *path, const rows_spec *spec)
{
    const char *from = sample_path("few.csv");
    FILE *out = fopen(from, "w");
    fputs("y,a,b,w\n", out);
    for (size_t i = 0; i < 40; i++)
        fprintf(out, "%zu,%g,%g,1\n", i % 2, (double)i, (double)(i * i % 7));
    fclose(out);
    table_job job = {.from = from, .to = path, .temp_near = path, .memory = (size_t)1 << 20};
    job.file = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    if (table_write(&job, spec, NULL) != SBPS_OK) abort();
    close(job.file);
}

static void make_stored(const char *path, const char *storage)
{
    make_by(path, &(rows_spec){.target = "y", .weights = "w", .storage = storage});
}

static void make_grouped_table(const char *path)
{
    make_by(path,
            &(rows_spec){.formula = "y ~ a + (1 + a | b) + (1 | w:b)", .intercept = true});
}

static void make_table(const char *path)
{
    make_stored(path, "double");
}

static void make_sparse_table(const char *path)
{
    make_stored(path, "sparse");
}

static void repair_table(document *d)
{
    table_header h;
    bool inside = true;
    if (d->size < sizeof h) return;
    memcpy(&h, d->bytes, sizeof h);
    for (table_section *s = h.section + SECTION_MEAN; s <= h.section + SECTION_TEXT; s++)
        inside = inside && s->at <= d->size && s->size <= d->size - s->at;
    if (inside) h.tail_crc = table_tail_crc(&h, d->bytes);
    if (h.design.at < d->size && memchr(d->bytes + h.design.at, 0, d->size - h.design.at))
        h.design_crc = table_design_crc((const char *)d->bytes + h.design.at);
    h.crc = table_crc(&h);
    memcpy(d->bytes, &h, sizeof h);
}

/* All cells of a table can be read. */
static double read_all_cells(const rows *t)
{
    double sum = 0.0, *row = calloc(t->stride + 1, sizeof *row);
    for (size_t i = 0; i < t->local_rows; i++) {
        sum += t->y[i] + (t->weight ? t->weight[i] : 0.0) + (t->offset ? t->offset[i] : 0.0);
        t->storage.kind->decode(t, i, row);
        for (size_t j = 0; j < t->stride; j++) sum += row[j];
    }
    for (size_t j = 0; j < t->d; j++)
        sum += t->table.mean[j] + t->table.sd[j] + (double)strlen(t->table.names[j]);
    free(row);
    const group_factor *by = t->groups ? &t->groups->factor[t->groups->by] : NULL;
    for (size_t i = 0; by && i < t->local_rows; i++)
        sum += (double)strlen(by->level[by->of[i]]);
    return sum;
}

static const char *read_table(const char *path, bool *accepted)
{
    static const rows_spec spec = {.intercept = true};
    static volatile double seen;
    sbps_error err = {0};
    rows *t = NULL;
    sbps_status status = rows_read(path, &spec, &t, &err);
    *accepted = status == SBPS_OK;
    if (*accepted) seen = read_all_cells(t);
    (void)seen;
    rows_destroy(t);
    return check_refusal(status, &err, path);
}

TEST(tables_on_disk_of_any_bytes_are_read_or_refused)
{
    check_format(&(format){.name = "table",
                           .head = sizeof(table_header),
                           .make = make_table,
                           .repair = repair_table,
                           .read = read_table});
}

TEST(tables_of_groups_of_any_bytes_are_read_or_refused)
{
    check_format(&(format){.name = "grouped-table",
                           .head = sizeof(table_header),
                           .make = make_grouped_table,
                           .repair = repair_table,
                           .read = read_table});
}

TEST(tables_of_sparse_rows_of_any_bytes_are_read_or_refused)
{
    check_format(&(format){.name = "sparse-table",
                           .head = sizeof(table_header),
                           .make = make_sparse_table,
                           .repair = repair_table,
                           .read = read_table});
}

/* ---- checkpoints: the container; checkpoints.c forges its contents ---- */

static double numbers[8];
static uint64_t counter = 17;

static const checkpoint_block blocks[] = {{"numbers", numbers, sizeof numbers},
                                          {"nothing", NULL, 0},
                                          {"counter", &counter, sizeof counter}};

static void make_checkpoint(const char *path)
{
    if (checkpoint_write(path, blocks, 3, NULL) != SBPS_OK) abort();
}

static void repair_checkpoint(document *d)
{
    if (d->size < 36) return;
    uint64_t total = d->size;
    if (total % 2) memcpy(d->bytes + 16, &total, sizeof total);
    uint32_t sum = (uint32_t)crc32_z(crc32_z(0, NULL, 0), d->bytes, d->size - 4);
    memcpy(d->bytes + d->size - 4, &sum, sizeof sum);
}

static const char *read_checkpoint(const char *path, bool *accepted)
{
    sbps_error err = {0};
    sbps_status status = checkpoint_read(path, blocks, 3, &err);
    const char *wrong = check_refusal(status, &err, path);
    *accepted = status == SBPS_OK;
    for (size_t i = 0; i < 3 && !wrong; i++) {
        char *bytes;
        size_t size;
        status = checkpoint_peek(path, blocks[i].name, &bytes, &size, &err);
        wrong = check_refusal(status, &err, path);
        if (status == SBPS_OK && (!bytes || bytes[size])) wrong = "a block without its end";
        free(bytes);
    }
    return wrong;
}

TEST(checkpoints_of_any_bytes_are_read_or_refused)
{
    check_format(&(format){.name = "checkpoint",
                           .head = 96,
                           .make = make_checkpoint,
                           .repair = repair_checkpoint,
                           .read = read_checkpoint});
}

/* ---- run files: never repaired, since HDF5 crashes on bytes that the checksum detects ---- */

static void make_run_file(const char *path)
{
    char name[1300];
    snprintf(name, sizeof name, "%s.nc", path);
    result *r = sample_result(2, 3, 2);
    if (result_write_netcdf(r, name, NULL) != SBPS_OK || rename(name, path) != 0) abort();
    result_destroy(r);
}

static const char *read_run_file(const char *path, bool *accepted)
{
    sbps_error err = {0};
    sbps_result *r = NULL;
    char *text = NULL;
    size_t findings;
    sbps_status status = sbps_result_read(path, &r, &err);
    *accepted = status == SBPS_OK;
    if (*accepted && sbps_result_summary(r, SBPS_TEXT, &text, NULL) == SBPS_OK) sbps_free(text);
    if (*accepted && sbps_result_diagnose(r, &text, &findings, NULL) == SBPS_OK)
        sbps_free(text);
    sbps_result_destroy(r);
    return check_refusal(status, &err, path);
}

TEST(run_files_of_any_bytes_are_read_or_refused)
{
    check_format(&(format){.name = "run", .make = make_run_file, .read = read_run_file});
}

/* ---- text ---- */

/* clang-format off */
static const char *const words[] = {
    ",", "\n", "\r\n", "\"", "\"\"", "'", "#", "=", " ", "\t", "-", "+", ".", "e",
    "E400", "1e-400", "nan", "inf", "0x10", "1e308", "(", ")", "()", "name", "mean",
    "value", "cov:", "cov:a", "log(", "sigma", "a", "b", "0", "normal", "flat", "auto",
    "true", "chains", "seed", "prior", "\\", "\xff", "\xef\xbb\xbf",
    "18446744073709551616", "\x1b[31m", "prior = "
};
/* clang-format on */
#define WORDS                                                                                  \
    {                                                                                          \
        words, sizeof words / sizeof *words                                                    \
    }

static const char *read_config(const char *path, bool *accepted)
{
    sbps_error err = {0};
    sbps_options *options;
    if (sbps_options_create(&options, &err) != SBPS_OK) return "no options";
    sbps_status status = sbps_options_read(options, path, &err);
    *accepted = status == SBPS_OK;
    sbps_options_destroy(options);
    return check_refusal(status, &err, path);
}

TEST(configurations_of_any_bytes_are_read_or_refused)
{
    check_format(&(format){.name = "config", .tokens = WORDS, .read = read_config});
}

static const char *read_matrix(const char *path, bool *accepted)
{
    sbps_error err = {0};
    double *values = NULL;
    size_t d = 0;
    sbps_status status = matrix_read(path, &d, &values, &err);
    const char *wrong = check_refusal(status, &err, path);
    *accepted = status == SBPS_OK;
    for (size_t i = 0; *accepted && i < d * d; i++)
        if (!isfinite(values[i])) wrong = "a number that is none";
    free(values);
    return wrong;
}

TEST(matrices_of_any_bytes_are_read_or_refused)
{
    check_format(&(format){.name = "matrix", .tokens = WORDS, .read = read_matrix});
}

static const char *read_prior(const char *path, bool *accepted)
{
    sbps_error err = {0};
    prior p, again;
    size_t size;
    char *bytes = sample_bytes(path, &size), text[256];
    bytes[size ? size - 1 : 0] = '\0';
    sbps_status status = prior_parse(bytes, &p, &err);
    const char *wrong = check_refusal(status, &err, NULL);
    *accepted = status == SBPS_OK;
    free(bytes);
    if (!*accepted) return wrong;
    prior_format(&p, sizeof text, text);
    if (prior_parse(text, &again, &err) != SBPS_OK || again.kind != p.kind)
        wrong = "what was written does not read back";
    return isnan(prior_slope(&p, SCALE_PLAIN, 0.5)) ? "a slope that is none" : wrong;
}

TEST(priors_of_any_bytes_are_read_or_refused)
{
    check_format(&(format){.name = "prior", .tokens = WORDS, .read = read_prior});
}

/* A posterior of intercept, a, b and sigma, for files that name its parameters. */
static posterior *the_posterior(char ***names)
{
    static const double x[] = {1, 2, 3, 1, 4, 1, 5, 9, 2, 6}, y[] = {1, 2, 3, 5, 8};
    static const char *const titles[] = {"a", "b"};
    static sbps_table *table;
    sbps_error err = {0};
    posterior *u;
    sbps_options *options = options_of("model=linear");
    if (sbps_table_copy(5, 2, x, titles, y, options, &table, &err) != SBPS_OK)
        give_up("table", &err);
    if (target_open(options, table->data, model_find("linear"), &u, &err) != SBPS_OK ||
        target_names(u, names, &err) != SBPS_OK)
        give_up("posterior", &err);
    sbps_options_destroy(options);
    return u;
}

static const char *read_start(const char *path, bool *accepted)
{
    static posterior *u;
    static char **names;
    sbps_error err = {0};
    start_point start;
    if (!u) u = the_posterior(&names);
    sbps_status status = start_read(path, u, (const char *const *)names, &start, &err);
    const char *wrong = check_refusal(status, &err, path);
    *accepted = status == SBPS_OK;
    for (size_t j = 0; *accepted && j < u->dim; j++)
        if (!isfinite(start.w[j])) wrong = "a start that is none";
    start_release(&start);
    return wrong;
}

TEST(start_files_of_any_bytes_are_read_or_refused)
{
    check_format(&(format){.name = "start", .tokens = WORDS, .read = read_start});
}

CHECK_MAIN
