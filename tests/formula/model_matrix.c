/* Formulas on a small table against R's model.matrix and lme4 (expected.R). */
#include "check.h"

#include "ingest/formula/formula.h"

enum { MAX_LINE = 1 << 14, ROWS_MAX = 32, COLUMNS_MAX = 16, WORD_SIZE = 64 };

#define TOL_R 1e-12 /* relative to the largest number of the column */

typedef struct {
    char *name[COLUMNS_MAX];
    char word[ROWS_MAX][COLUMNS_MAX][WORD_SIZE];
    size_t rows, columns;
    bool category[COLUMNS_MAX];
    char *level[COLUMNS_MAX][ROWS_MAX]; /* sorted */
    size_t levels[COLUMNS_MAX];
    double cell[ROWS_MAX][COLUMNS_MAX]; /* numbers, or codes by appearance */
    size_t rank[COLUMNS_MAX][ROWS_MAX];
} small_table;

static size_t cut_line(char *line, char **word, size_t limit)
{
    size_t count = 0;
    line[strcspn(line, "\n")] = '\0';
    for (char *at = line; at && count < limit; count++) word[count] = strsep(&at, "\t");
    return count;
}

static int by_word(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void code_column(small_table *t, size_t c)
{
    char *end, *seen[ROWS_MAX];
    size_t n = 0;
    for (size_t i = 0; i < t->rows; i++) {
        t->cell[i][c] = strtod(t->word[i][c], &end);
        t->category[c] |= *end != '\0';
    }
    for (size_t i = 0; t->category[c] && i < t->rows; i++) {
        size_t k = 0;
        while (k < n && strcmp(seen[k], t->word[i][c]) != 0) k++;
        if (k == n) seen[n++] = t->word[i][c];
        t->cell[i][c] = (double)k;
    }
    t->levels[c] = n;
    memcpy(t->level[c], seen, n * sizeof *seen);
    qsort(t->level[c], n, sizeof *seen, by_word);
    for (size_t k = 0; k < n; k++)
        for (size_t r = 0; r < n; r++)
            if (strcmp(t->level[c][r], seen[k]) == 0) t->rank[c][k] = r;
}

static void read_table(FILE *file, small_table *t)
{
    char line[MAX_LINE], *word[COLUMNS_MAX + 1];
    REQUIRE(fgets(line, sizeof line, file) && cut_line(line, word, 3) == 3);
    t->rows = (size_t)atoi(word[1]);
    t->columns = (size_t)atoi(word[2]);
    REQUIRE(fgets(line, sizeof line, file));
    cut_line(line, word, COLUMNS_MAX + 1);
    for (size_t c = 0; c < t->columns; c++) t->name[c] = strdup(word[c + 1]);
    for (size_t i = 0; i < t->rows; i++) {
        REQUIRE(fgets(line, sizeof line, file));
        cut_line(line, word, COLUMNS_MAX + 1);
        for (size_t c = 0; c < t->columns; c++)
            snprintf(t->word[i][c], WORD_SIZE, "%s", word[c + 1]);
    }
    for (size_t c = 0; c < t->columns; c++) code_column(t, c);
}

typedef struct {
    const formula *f;
    const small_table *t;
} all_rows;

static sbps_status visit_all(void *self, const program *of, double *value, sbps_error *err)
{
    const all_rows *a = self;
    (void)err;
    for (size_t i = 0; i < a->t->rows; i++) value[i] = formula_number(a->f, of, a->t->cell[i]);
    return SBPS_OK;
}

static sbps_status make_formula(const char *text, const small_table *t, formula **out,
                                sbps_error *err)
{
    sbps_status status = formula_parse(text, out, err);
    if (status == SBPS_OK) status = formula_bind(*out, t->name, NULL, t->columns, err);
    for (size_t k = 0; status == SBPS_OK && k < (*out)->columns; k++) {
        formula_column *c = &(*out)->column[k];
        c->category = t->category[c->source];
        c->slot = c->source;
        c->levels = t->levels[c->source];
        c->level = t->level[c->source];
        c->rank = t->rank[c->source];
    }
    if (status == SBPS_OK) status = formula_resolve(*out, err);
    all_rows a = {*out, t};
    row_values from = {visit_all, &a, t->rows};
    return status == SBPS_OK ? formula_fit(*out, &from, err) : status;
}

/* A formula as evaluated here, and the position in the expected output of R. */
typedef struct {
    formula *f;
    formula_scratch s;
    size_t column, group, effect;
    bool offset;
} progress;

static double cell_of(const progress *p, const formula_design *d, const double *row, size_t j)
{
    if (d->intercept && j == 0) return 1.0;
    formula_values(p->f, row, &p->s);
    size_t n = design_row(p->f, d, &p->s, p->s.column, p->s.value);
    for (size_t k = 0; k < n; k++)
        if (p->s.column[k] == j) return p->s.value[k];
    return 0.0;
}

static void check_column(const progress *p, const small_table *t, const formula_design *d,
                         size_t j, char *const *word)
{
    double largest = 0.0, worst = 0.0;
    REQUIRE(j < d->columns);
    if (strcmp(d->names[j], word[1]) != 0)
        printf("%s: column %zu is '%s', R has '%s'\n", p->f->text, j, d->names[j], word[1]);
    CHECK(strcmp(d->names[j], word[1]) == 0);
    for (size_t i = 0; i < t->rows; i++) {
        double want = strtod(word[i + 2], NULL), have = cell_of(p, d, t->cell[i], j);
        largest = fmax(largest, fabs(want));
        worst = fmax(worst, fabs(want - have));
    }
    if (!(worst <= TOL_R * largest)) printf("%s: %s: off by %g\n", p->f->text, word[1], worst);
    CHECK(worst <= TOL_R * largest);
}

/* The current term of R's factor: terms of a factor are in the order of the formula, and (x ||
 * g) is several terms in R. */
static void begin_group(progress *p, const char *name)
{
    size_t from = p->group == SIZE_MAX ? 0 : p->group;
    const formula *f = p->f;
    bool again = p->group != SIZE_MAX && strcmp(f->group[p->group].name, name) == 0;
    if (again && p->effect < f->group[p->group].design.columns) return; /* R has split it */
    p->effect = 0;
    for (size_t k = again ? from + 1 : 0; k < f->groups; k++)
        if (strcmp(f->group[k].name, name) == 0) {
            p->group = k;
            return;
        }
    printf("%s: no group '%s'\n", f->text, name);
    CHECK(false);
    p->group = SIZE_MAX;
}

static void check_levels(const progress *p, const small_table *t, char *const *word)
{
    const formula_group *g = &p->f->group[p->group];
    for (size_t i = 0; i < t->rows; i++) {
        char name[4 * WORD_SIZE] = "";
        for (size_t k = 0; k < g->columns; k++) {
            if (k) strcat(name, ":");
            strcat(name, t->word[i][p->f->column[g->column[k]].source]);
        }
        CHECK(strcmp(name, word[i + 1]) == 0);
    }
}

static void end_formula(progress *p)
{
    if (!p->f) return;
    CHECK(p->column == p->f->fixed.columns);
    CHECK(p->offset == (p->f->offsets > 0));
    CHECK((p->group == SIZE_MAX) == (p->f->groups == 0));
    scratch_close(&p->s);
    formula_destroy(p->f);
}

static void begin_formula(progress *p, const small_table *t, const char *text)
{
    sbps_error err;
    *p = (progress){.group = SIZE_MAX};
    sbps_status status = make_formula(text, t, &p->f, &err);
    if (status != SBPS_OK) printf("%s: %s\n", text, err.text);
    CHECK(status == SBPS_OK);
    if (status == SBPS_OK && scratch_open(p->f, &p->s, NULL) == SBPS_OK) return;
    formula_destroy(p->f);
    p->f = NULL;
}

static void check_line(progress *p, const small_table *t, char **word)
{
    if (!strcmp(word[0], "COLUMN")) {
        check_column(p, t, &p->f->fixed, p->column++, word);
    } else if (!strcmp(word[0], "OFFSET")) {
        p->offset = true;
        for (size_t i = 0; i < t->rows; i++)
            CHECK_NEAR(formula_offset(p->f, t->cell[i]), strtod(word[i + 1], NULL), TOL_R);
    } else if (!strcmp(word[0], "GROUP")) {
        begin_group(p, word[1]);
    } else if (p->group == SIZE_MAX) {
        return; /* reported already */
    } else if (!strcmp(word[0], "LEVELS")) {
        check_levels(p, t, word);
    } else if (!strcmp(word[0], "EFFECT")) {
        check_column(p, t, &p->f->group[p->group].design, p->effect++, word);
    }
}

TEST(columns_have_the_names_and_values_of_R)
{
    static small_table t;
    static char line[MAX_LINE];
    char path[4096], *word[ROWS_MAX + 2];
    snprintf(path, sizeof path, "%s/tests/formula/expected.txt", getenv("SBPS_SOURCE_DIR"));
    FILE *file = fopen(path, "r");
    progress p = {0};
    size_t formulas = 0;
    REQUIRE(file);
    read_table(file, &t);
    while (fgets(line, sizeof line, file)) {
        cut_line(line, word, ROWS_MAX + 2);
        if (!strcmp(word[0], "FORMULA")) {
            end_formula(&p);
            begin_formula(&p, &t, word[1]);
            formulas++;
        } else if (p.f)
            check_line(&p, &t, word);
    }
    end_formula(&p);
    fclose(file);
    printf("%zu formulas\n", formulas);
    CHECK(formulas > 200);
    for (size_t c = 0; c < t.columns; c++) free(t.name[c]);
}

CHECK_MAIN
