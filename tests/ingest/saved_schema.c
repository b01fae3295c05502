/* New rows are treated as the rows of the table, by the design that a run file stores as text.
 * */
#include "check.h"

#include "ingest/design/saved_schema.h"
#include "ingest/ingest.h"
#include "ingest/text/source.h"
#include "output/predict/row_stream.h"
#include "table/row_groups.h"
#include <unistd.h>

enum { MAX_LINE = 1 << 12, ROWS_MAX = 32, COLUMNS_MAX = 16 };

#define TOL_ETA 1e-12 /* relative to the largest */

typedef struct {
    char *cell[ROWS_MAX][COLUMNS_MAX]; /* the first row names */
    size_t rows, columns;
} corpus;

static size_t cut_line(char *line, char **word, size_t limit)
{
    size_t count = 0;
    line[strcspn(line, "\n")] = '\0';
    for (char *at = line; at && count < limit; count++) word[count] = strsep(&at, "\t");
    return count;
}

static FILE *open_corpus(const char *name)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/tests/formula/%s", getenv("SBPS_SOURCE_DIR"), name);
    return fopen(path, "r");
}

static void read_corpus(corpus *t)
{
    char line[MAX_LINE], *word[COLUMNS_MAX + 1];
    FILE *file = open_corpus("expected.txt");
    REQUIRE(file && fgets(line, sizeof line, file));
    cut_line(line, word, 3);
    t->rows = (size_t)atoi(word[1]) + 1;
    t->columns = (size_t)atoi(word[2]);
    for (size_t i = 0; i < t->rows && fgets(line, sizeof line, file); i++) {
        cut_line(line, word, COLUMNS_MAX + 1);
        for (size_t c = 0; c < t->columns; c++) t->cell[i][c] = strdup(word[c + 1]);
    }
    fclose(file);
}

static void free_corpus(corpus *t)
{
    for (size_t i = 0; i < t->rows; i++)
        for (size_t c = 0; c < t->columns; c++) free(t->cell[i][c]);
}

/* `turned`: columns and rows in reverse order, and one more column. */
static void write_corpus(const corpus *t, const char *path, bool turned)
{
    FILE *file = fopen(path, "w");
    REQUIRE(file);
    for (size_t k = 0; k < t->rows; k++) {
        size_t i = turned && k > 0 ? t->rows - k : k;
        for (size_t j = 0; j < t->columns; j++)
            fprintf(file, "%s\"%s\"", j ? "," : "",
                    t->cell[i][turned ? t->columns - 1 - j : j]);
        fprintf(file, turned ? ",%s\n" : "\n", k ? "7" : "more");
    }
    fclose(file);
}

/* ---- the linear predictor ---- */

static double weight(size_t index)
{
    return sin(1.7 * (double)index + 0.3);
}

static double of_text(const char *name)
{
    double sum = 0.0;
    for (size_t i = 0; name[i]; i++) sum += sin((double)(i + 1) * (double)name[i]);
    return sum;
}

static double eta_of_table(const rows *r, size_t i)
{
    double eta = r->offset ? r->offset[i] : 0.0;
    const row_groups *g = r->groups;
    for (size_t j = 0; j < r->d; j++) eta += weight(j) * r->storage.kind->cell(r, i, j);
    for (size_t t = 0, k = 0; g && t < g->terms; t++)
        for (size_t a = 0; a < g->term[t].count; a++, k++) {
            size_t column = g->term[t].column[a];
            double z = column == GROUP_CONSTANT ? 1.0 : g->z[i * g->width + column];
            eta += weight(100 + k) * z;
        }
    if (g) eta += of_text(g->factor[0].level[g->factor[0].of[i]]);
    return eta + 0.1 * r->y[i] + 0.01 * (r->weight ? r->weight[i] : 1.0);
}

static double eta_of_row(const saved_schema *b, const encoded_row *s)
{
    double eta = s->offset;
    size_t effects = 0;
    for (size_t j = 0; j < b->names; j++) eta += weight(j) * s->x[j];
    for (size_t t = 0; t < saved_schema_terms(b); t++) effects += saved_schema_effects(b, t);
    for (size_t k = 0; k < effects; k++) eta += weight(100 + k) * s->z[k];
    if (effects > 0) eta += of_text(s->level[0].data);
    return eta + 0.1 * s->y + 0.01 * s->weight;
}

static int by_number_of(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Also the sums of the rows' contributions to the content hash, exact and rounded. */
static size_t etas_of_file(const saved_schema *b, const char *path, double *eta,
                           uint64_t content[2])
{
    column_types found = {0};
    row_source s;
    encoded_row seen;
    sbps_error err = {0};
    row_fate fate;
    row_state state;
    double cells[COLUMNS_MAX + 2];
    const new_row_request wants = {.target = true, .trials = true};
    size_t n = 0;
    sbps_status status = saved_schema_open(b, path, wants, &found, &s, &err);
    if (status == SBPS_OK) status = encoded_row_open(b, &seen, &err);
    while (status == SBPS_OK && source_next(&s, cells, &fate, &err) == SBPS_OK &&
           fate != ROW_END) {
        CHECK(saved_schema_encode_row(b, s.schema, cells, wants, &seen, &state));
        CHECK(state == ROW_WHOLE);
        eta[n++] = eta_of_row(b, &seen);
        content[0] += identity_row(b, CONTENT_EXACT, &seen);
        content[1] += identity_row(b, CONTENT_ROUNDED, &seen);
    }
    if (status == SBPS_OK) encoded_row_close(&seen);
    CHECK(status == SBPS_OK);
    if (err.text[0]) printf("%s\n", err.text);
    source_close(&s);
    column_types_clear(&found);
    return n;
}

static void compare(const char *formula_text, const rows *r, const char *path)
{
    saved_schema *b;
    sbps_error err = {0};
    double of_table[ROWS_MAX], of_file[ROWS_MAX], largest = 0.0;
    REQUIRE(r->table.design);
    sbps_status status = saved_schema_parse(r->table.design, "run.nc", &b, &err);
    if (status != SBPS_OK) printf("%s: %s\n", formula_text, err.text);
    REQUIRE(status == SBPS_OK);
    uint64_t content[2] = {0};
    size_t n = etas_of_file(b, path, of_file, content);
    CHECK(n == r->local_rows);
    table_content exact, rounded;
    REQUIRE(content_table(r, CONTENT_EXACT, 2, &exact, &err) == SBPS_OK);
    REQUIRE(content_table(r, CONTENT_ROUNDED, 2, &rounded, &err) == SBPS_OK);
    CHECK(exact.sum == content[0] && rounded.sum == content[1]);
    CHECK(r->table.content_kind != CONTENT_UNKNOWN);
    CHECK(r->table.content ==
          (r->table.content_kind == CONTENT_EXACT ? exact.sum : rounded.sum));
    for (size_t i = 0; i < r->local_rows; i++) of_table[i] = eta_of_table(r, i);
    qsort(of_table, r->local_rows, sizeof *of_table, by_number_of);
    qsort(of_file, n, sizeof *of_file, by_number_of);
    for (size_t i = 0; i < r->local_rows; i++) largest = fmax(largest, fabs(of_table[i]));
    for (size_t i = 0; i < n && i < r->local_rows; i++)
        if (!(fabs(of_table[i] - of_file[i]) <= TOL_ETA * largest)) {
            printf("%s: %.17g, %.17g\n", formula_text, of_table[i], of_file[i]);
            CHECK(false);
        }
    saved_schema_destroy(b);
}

/* Reads the table by the spec, and its rows again by the saved design. */
static bool check_spec(const char *label, rows_spec spec, const char *path, const char *turned)
{
    rows *r;
    sbps_error err = {0};
    spec.seed = 3;
    spec.storage = "double";
    if (rows_read(path, &spec, &r, &err) != SBPS_OK) return false;
    compare(label, r, turned);
    rows_destroy(r);
    return true;
}

static void with_corpus(void (*body)(const char *path, const char *turned))
{
    static corpus t;
    char path[] = "/tmp/sbps-blueprint-XXXXXX", turned[] = "/tmp/sbps-blueprint-XXXXXX";
    int one = mkstemp(path), other = mkstemp(turned);
    REQUIRE(one >= 0 && other >= 0);
    close(one);
    close(other);
    read_corpus(&t);
    write_corpus(&t, path, false);
    write_corpus(&t, turned, true);
    body(path, turned);
    unlink(path);
    unlink(turned);
    free_corpus(&t);
}

static void check_formulas(const char *path, const char *turned)
{
    char line[MAX_LINE];
    size_t read = 0, checked = 0;
    FILE *file = open_corpus("formulas.txt");
    REQUIRE(file);
    while (fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = '\0';
        if (line[0] == '#' || !line[0]) continue;
        for (int standardize = 0; standardize < 2; standardize++) {
            rows_spec spec = {.formula = line, .intercept = true, .standardize = standardize};
            read++;
            checked += check_spec(line, spec, path, turned);
        }
    }
    fclose(file);
    printf("%zu of %zu formulas\n", checked, read);
    CHECK(checked > 400);
}

TEST(rows_of_any_formula_are_the_same_by_the_saved_design)
{
    with_corpus(check_formulas);
}

static void check_columns(const char *path, const char *turned)
{
    const rows_spec specs[] = {
        {.target = "y", .intercept = true},
        {.target = "y", .intercept = false, .features = "z,a,x"},
        {.target = "y", .categorical = "u,b", .reference = "u=3,b=s", .intercept = true},
        {.target = "y", .exclude = "t,a", .weights = "n", .offset = "x", .intercept = true},
        {.target = "y", .trials = "n", .features = "x,a", .intercept = true},
        {.target = "a", .labels = LABELS_TWO, .success = "u", .features = "x,b"},
        {.target = "u", .labels = LABELS_CLASSES, .features = "x,b", .standardize = true},
        {.target = "b", .labels = LABELS_CLASSES, .features = "2nd,odd name,g"},
        {.formula = "a ~ x + z", .labels = LABELS_TWO, .intercept = true},
    };
    for (size_t k = 0; k < sizeof specs / sizeof *specs; k++)
        CHECK(check_spec("columns", specs[k], path, turned));
}

TEST(rows_without_a_formula_are_the_same_by_the_saved_design)
{
    with_corpus(check_columns);
}

/* ---- invalid designs ---- */

static sbps_status parse_changed(const char *from, const char *to, sbps_error *err)
{
    static const char whole[] =
        "{\"version\":1,\"header\":true,\"intercept\":true,\"formula\":\"y ~ scale(x)\","
        "\"target\":{\"name\":\"y\",\"text\":false},\"columns\":[{\"name\":\"x\",\"is\":"
        "\"number\",\"role\":\"feature\"},{\"name\":\"y\",\"is\":\"number\",\"role\":"
        "\"target\"}],"
        "\"learned\":[[1,2]],\"design\":[\"intercept\",\"scale(x)\"],\"standardize\":null}";
    char changed[sizeof whole + 64];
    saved_schema *b = NULL;
    const char *at = strstr(whole, from);
    snprintf(changed, sizeof changed, "%.*s%s%s", (int)(at - whole), whole, to,
             at + strlen(from));
    sbps_status status = saved_schema_parse(changed, "run.nc", &b, err);
    saved_schema_destroy(b);
    return status;
}

TEST(invalid_designs_are_refused_with_a_message)
{
    static const struct {
        const char *from, *to, *word;
    } wrong[] = {
        {"\"version\":1", "\"version\":2", "newer"},
        {"\"version\":1", "\"version\":0", "version"},
        {"\"columns\":[", "\"columns\":[7,", "column"},
        {"number", "flower", "column"},
        {"[[1,2]]", "[[1]]", "learned"},
        {"[[1,2]]", "[]", "learned"},
        {"[[1,2]]", "[[1,2]", "does not end"},
        {"scale(x)\",\"t", "scale(q)\",\"t", "q"},
        {",\"scale(x)\"]", "]", "the number of its columns"},
        {"\"target\"", "\"tar\\qget\"", "string"},
    };
    sbps_error err = {0};
    CHECK(parse_changed("header", "header", &err) == SBPS_OK);
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
        err.text[0] = '\0';
        CHECK(parse_changed(wrong[k].from, wrong[k].to, &err) != SBPS_OK);
        if (!strstr(err.text, wrong[k].word)) printf("%zu: %s\n", k, err.text);
        CHECK(strstr(err.text, wrong[k].word));
    }
}

TEST(designs_of_other_versions_or_none_are_refused)
{
    static const struct {
        const char *text, *sentence;
    } designs[] = {
        {"{\"version\":2}",
         "run.nc: its design has version 2, and this program reads version 1: "
         "use a newer sbps"},
        {"{\"version\":0}",
         "run.nc: the saved design cannot be read: its version is missing or unknown"},
        {"{}", "run.nc: the saved design cannot be read: its version is missing or unknown"},
        {"{\"version\":1}", "run.nc: the saved design cannot be read: it names no columns"},
        {"{\"version\"", "run.nc: the saved design cannot be read: "},
        {"", "run.nc: the saved design cannot be read: "},
    };
    for (size_t k = 0; k < sizeof designs / sizeof *designs; k++) {
        saved_schema *b;
        sbps_error err = {0};
        CHECK(saved_schema_parse(designs[k].text, "run.nc", &b, &err) == SBPS_BAD_FILE && !b);
        CHECK(strncmp(err.text, designs[k].sentence, strlen(designs[k].sentence)) == 0);
    }
}

CHECK_MAIN
