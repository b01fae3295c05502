/* Every word of a checkpoint is inspected: for every word of the run's state and of a chain's
 * memory some function checks its range, and an invalid value is refused by its name. */
#include "check.h"
#include "stat/sample.h"

#include "core/rng.h"
#include "inference/run/run.h"
#include "inference/run/run_files.h"

#define ROWS    200
#define COLUMNS 3
#define WORD    sizeof(uint64_t)
#define LINE    (CACHE_LINE / WORD)

/* A table with two crossed factors, g and h. */
static void read_groups(const sbps_options *options, sbps_table **table)
{
    char path[256];
    sbps_error err = {0};
    rng random = rng_stream(9, 0, RNG_TEST);
    temporary_name(sizeof path, path);
    FILE *file = fopen(path, "w");
    fprintf(file, "y,x,g,h\n");
    for (size_t i = 0; i < ROWS; i++)
        fprintf(file, "%d,%.4f,g%zu,h%zu\n", rng_uniform(&random) < 0.4, rng_normal(&random),
                i % 11, i * i % 7);
    fclose(file);
    if (sbps_table_read(path, options, NULL, table, &err) != SBPS_OK) give_up(path, &err);
    unlink(path);
}

static sbps_run *run_of(const char *settings, sbps_table **table)
{
    static double x[ROWS][COLUMNS], y[ROWS];
    sbps_error err = {0};
    sbps_run *run;
    rng random = rng_stream(8, 0, RNG_TEST);
    for (size_t i = 0; i < ROWS; i++) {
        for (size_t j = 0; j < COLUMNS; j++) x[i][j] = rng_normal(&random);
        y[i] = rng_uniform(&random) < 1.0 / (1.0 + exp(-x[i][0]));
    }
    sbps_options *options = options_of(settings);
    if (strstr(settings, "formula="))
        read_groups(options, table);
    else if (sbps_table_copy(ROWS, COLUMNS, x[0], NULL, y, options, table, &err) != SBPS_OK)
        give_up("table", &err);
    if (sbps_run_create(*table, options, &run, &err) != SBPS_OK) give_up(settings, &err);
    sbps_options_destroy(options);
    return run;
}

static inspection inspect_once(const sbps_run *run, size_t index)
{
    const arena *memory = &run->chains[index].memory;
    inspection x = {.base = memory->base, .fresh = memory->base, .size = memory->size};
    x.seen = calloc(memory->size / WORD + 1, 1);
    inspect_chain(run, index, &x);
    return x;
}

/* Pieces of an arena begin at cache lines: a line without an inspected word is a piece that was
 * left out. */
static bool lines_inspected(const inspection *x)
{
    for (size_t line = 0; line < x->size / CACHE_LINE; line++)
        if (!memchr(x->seen + line * LINE, 1, LINE)) {
            printf("line %zu of %zu of a chain's memory is not inspected\n", line,
                   x->size / CACHE_LINE);
            return false;
        }
    return true;
}

/* After set-up and after some rounds: valid both times, and inspected completely. */
static void check_whole(const char *settings)
{
    sbps_table *table;
    sbps_run *run = run_of(settings, &table);
    bool finished = false;
    for (size_t round = 0; round < 3; round++) {
        for (size_t c = 0; c < run->chain_count; c++) {
            inspection x = inspect_once(run, c);
            bool good = !x.wrong[0] && lines_inspected(&x);
            if (!good) printf("%s, round %zu: %s\n", settings, round, x.wrong);
            CHECK(good);
            free(x.seen);
        }
        inspection x = {.base = (const unsigned char *)&run->state, .size = sizeof run->state};
        x.seen = calloc(sizeof run->state / WORD + 1, 1);
        inspect_run(run, &x);
        if (x.wrong[0]) printf("%s, round %zu: %s\n", settings, round, x.wrong);
        CHECK(!x.wrong[0]);
        free(x.seen);
        CHECK(sbps_run_advance(run, &finished, NULL) == SBPS_OK);
    }
    sbps_run_destroy(run);
    sbps_table_destroy(table);
}

TEST(every_word_of_every_samplers_memory_is_inspected)
{
    for (size_t i = 0; sampler_kinds[i]; i++) {
        char settings[160];
        if (sampler_kinds[i]->conditional) continue; /* needs groups: below */
        bool noisy = !strcmp(sampler_kinds[i]->name, "noisy-bps");
        snprintf(settings, sizeof settings,
                 "model=logistic chains=2 draws=20 seconds=50 warmup=500 sampler=%s%s",
                 sampler_kinds[i]->name, noisy ? " gradient-noise=0.5" : "");
        check_whole(settings);
    }
}

TEST(every_word_of_sweeps_is_inspected)
{
    check_whole("formula=y~x+(1+x|g)+(1|h) family=bernoulli chains=2 draws=20 seconds=50 "
                "warmup=100 sampler=sweep");
    check_whole("formula=y~x+(1+x|g)+(1|h) family=gaussian chains=2 draws=20 seconds=50 "
                "warmup=100 sampler=sweep");
}

TEST(every_word_is_inspected_with_any_options)
{
    check_whole("model=linear chains=1 draws=20 seconds=50");
    check_whole("model=logistic chains=1 draws=20 seconds=50 paper");
    check_whole("model=logistic chains=1 draws=20 seconds=50 minibatch=random batch-size=20");
    check_whole("model=logistic chains=1 draws=20 seconds=50 regression=gp weight-decay=on");
    check_whole("model=logistic chains=1 draws=20 seconds=50 gradient-noise=0.5");
    check_whole("model=logistic chains=1 draws=20 seconds=50 metric=adaptive");
    check_whole("model=network chains=1 draws=20 seconds=50");
}

/* ---- invalid values ---- */

/* Sets one word, inspects, and restores it: the message must contain `word`. */
static void refuse_word(const sbps_run *run, void *at, uint64_t value, const char *word)
{
    const arena *memory = &run->chains->memory;
    unsigned char *fresh = malloc(memory->size);
    uint64_t before;
    memcpy(fresh, memory->base, memory->size);
    memcpy(&before, at, WORD);
    memcpy(at, &value, WORD);
    inspection x = {.base = memory->base, .fresh = fresh, .size = memory->size};
    inspect_chain(run, 0, &x);
    if (!strstr(x.wrong, word)) printf("expected '%s', have '%s'\n", word, x.wrong);
    CHECK(x.wrong[0] && strstr(x.wrong, word));
    memcpy(at, &before, WORD);
    free(fresh);
}

static uint64_t bits(double value)
{
    uint64_t word;
    memcpy(&word, &value, sizeof word);
    return word;
}

TEST(invalid_counts_indices_and_kinds_are_refused_by_name)
{
    sbps_table *table;
    sbps_run *run = run_of("model=logistic chains=2 draws=20 minibatch=random batch-size=20 "
                           "epochs=50 warmup=0",
                           &table);
    chain *c = run->chains;
    minibatch_state *u = c->batches.state;
    bool finished;
    CHECK(sbps_run_advance(run, &finished, NULL) == SBPS_OK);
    refuse_word(run, &c->d.state->count, 3000, "draws");
    refuse_word(run, &c->d.state->count, c->d.capacity, "draws");
    refuse_word(run, &c->d.state->spacing, 0, "spacing");
    refuse_word(run, &c->d.state->spacing, bits(1e-300), "equal times");
    refuse_word(run, &c->d.state->next, bits(NAN), "next");
    refuse_word(run, c->d.w, bits(INFINITY), "draw");
    refuse_word(run, &c->m.state->full, MOMENT_BATCHES + 1, "batches");
    refuse_word(run, &c->m.state->length, 0, "length");
    refuse_word(run, &u->kind, 4, "kind");
    refuse_word(run, &u->kind, 1, "kind"); /* of batches that were not requested */
    refuse_word(run, &u->n, ROWS + 1, "rows of a batch");
    refuse_word(run, &u->n, 0, "batch");
    refuse_word(run, &u->first, ROWS, "first");
    refuse_word(run, &u->random.left, RNG_BLOCK + 1, "random stream");
    refuse_word(run, &u->random.key[0], 99, "random stream");
    refuse_word(run, &c->batches.list[7], ROWS, "row of a batch");
    refuse_word(run, c->batches.curvature, bits(1e9), "prior");
    refuse_word(run, &c->state->begun, 77, "kind 77");
    refuse_word(run, &c->s.settings->refresh_rate, bits(1e-300), "setting");
    refuse_word(run, c->s.p_next, bits(1e300), "position");
    sbps_run_destroy(run);
    sbps_table_destroy(table);
}

CHECK_MAIN
