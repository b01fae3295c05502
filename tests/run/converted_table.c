/* A converted table gives the draws of its text, bit for bit, if the text is read in the order
 * of the table. Reading shuffles by another rule (table/row_origin.c), so that the lines are
 * put in an order for which both agree. */
#include "check.h"
#include "stat/sample.h"

#include "core/rng.h"
#include "ingest/ingest.h"
#include "table/row_origin.h"

#define N        ((size_t)1500)
#define LINE     200 /* bytes */
#define SEED     3
#define SETTINGS "model=logistic minibatch=window epochs=60 chains=2 draws=100 seed=3 "

typedef struct {
    const char *storage; /* as options of convert */
    bool libsvm;         /* few entries, so that auto is sparse */
} conversion;

static char lines[N][LINE];

static void make_lines(bool libsvm)
{
    rng r = rng_stream(21, libsvm, RNG_TEST);
    for (size_t i = 0; i < N; i++) {
        char *at = lines[i];
        at += sprintf(at, "%d", rng_uniform(&r) < 0.4);
        for (size_t j = 1; j <= (libsvm ? 60 : 5); j++)
            if (!libsvm)
                at += sprintf(at, ",%.6f", rng_normal(&r));
            else if (rng_uniform(&r) < 0.08)
                at += sprintf(at, " %zu:%.3f", j, rng_normal(&r));
        sprintf(at, "\n");
    }
}

/* Lines order[0], order[1], ...; NULL: in their order. */
static void put_lines(const char *path, bool libsvm, const size_t *order)
{
    FILE *file = fopen(path, "w");
    if (!libsvm) fputs("y,a,b,c,d,e\n", file);
    for (size_t i = 0; i < N; i++) fputs(lines[order ? order[i] : i], file);
    fclose(file);
}

static void put_in_the_order_of(const char *table, const char *path, bool libsvm)
{
    static const rows_spec any = {.intercept = true};
    size_t order[N], *to = shuffled_places(SEED, N, 1);
    rows *r = NULL;
    REQUIRE(to && rows_read(table, &any, &r, NULL) == SBPS_OK);
    for (size_t i = 0; i < N; i++) CHECK(rows_origin(r, to[i], &order[i], NULL) == SBPS_OK);
    put_lines(path, libsvm, order);
    rows_destroy(r);
    free(to);
}

static void make_table(const char *text, const char *table, const char *settings)
{
    sbps_error err = {0};
    sbps_options *options = options_of(settings);
    if (sbps_table_convert(text, table, options, 0, NULL, NULL, &err) != SBPS_OK)
        give_up("convert", &err);
    sbps_options_destroy(options);
}

static void check_same_draws(const sbps_result *a, const sbps_result *b)
{
    size_t n = a->chains * a->draws;
    REQUIRE(a->chains == b->chains && a->draws == b->draws && a->dim == b->dim);
    CHECK(memcmp(a->w, b->w, n * a->dim * sizeof *a->w) == 0);
    CHECK(memcmp(a->potential, b->potential, n * sizeof *a->potential) == 0);
    CHECK(memcmp(a->bias, b->bias, a->dim * sizeof *a->bias) == 0);
    CHECK(a->info.rows_touched == b->info.rows_touched);
}

static void check_conversion(const conversion *c)
{
    char text[256], table[256], settings[256];
    temporary_name(sizeof text, text);
    temporary_name(sizeof table, table);
    make_lines(c->libsvm);
    put_lines(text, c->libsvm, NULL);
    snprintf(settings, sizeof settings, "%s storage=%s target=%s", SETTINGS, c->storage,
             c->libsvm ? "label" : "y");
    make_table(text, table, settings);
    put_in_the_order_of(table, text, c->libsvm);
    sbps_result *mapped = sample_file(table, settings), *read = sample_file(text, settings);
    check_same_draws(mapped, read);
    sbps_result_destroy(mapped);
    sbps_result_destroy(read);
    unlink(text);
    unlink(table);
}

TEST(a_converted_table_gives_the_draws_of_its_text_in_its_order)
{
    static const conversion all[] = {
        {"double", false}, {"float", false}, {"auto", true}, {"sparse", false}};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) check_conversion(&all[k]);
}

CHECK_MAIN
