/* Forged checkpoints: one word of the run's state or of a chain's memory is changed, the
 * checksum made right, and the run resumed. It is refused with a message, or continues and has
 * results: never a crash (run it under the address sanitizer), never an endless run.
 *
 *   SBPS_FORGERIES=10000   how many (200)       SBPS_FORGERY_SEED=1   other ones
 *   SBPS_FORGERY=123       that one alone, telling what it is */
#include "check.h"
#include "stat/sample.h"
#include "store/sample.h"

#include "core/rng.h"
#include "inference/run/run.h"

#include <sys/time.h>
#include <zlib.h>

#define ROWS     120
#define COLUMNS  3
#define WORD     sizeof(uint64_t)
#define FEW      200
#define HANG     120 /* CPU seconds of a resumed run, which normally takes less than one */
#define RESUMED  "seconds=0.02 ess=100000"
#define ADVANCES 200

/* One run of each sampler, and runs with the optional parts of memory. */
static const char *const settings[] = {
    "model=logistic sampler=sbps",
    "model=logistic sampler=sbps minibatch=random batch-size=20 control-variate=none",
    "model=logistic sampler=sbps minibatch=window batch-size=20",
    "model=logistic sampler=sbps regression=gp weight-decay=on batch-size=30",
    "model=logistic sampler=sbps paper",
    "model=logistic sampler=sbps gradient-noise=0.5 prior=laplace(0,1)",
    "model=linear sampler=sbps",
    "model=network hidden=2 sampler=sbps batch-size=50",
    "model=logistic sampler=psbps",
    "model=logistic sampler=boomerang batch-size=20",
    "model=logistic sampler=bps",
    "model=linear sampler=bps",
    "model=logistic sampler=noisy-bps gradient-noise=0.5",
    "model=logistic sampler=lipsbps",
    "model=logistic sampler=local-bps",
    "model=logistic sampler=zigzag",
    "model=logistic sampler=zigzag-ss",
    "model=logistic sampler=zigzag-cv",
    "model=logistic sampler=sgld",
    "model=logistic sampler=psgld",
    "model=logistic sampler=sghmc",
    "model=logistic sampler=msgnht",
    "model=logistic sampler=mh",
    "model=logistic sampler=hmc",
};
enum { SETTINGS = sizeof settings / sizeof *settings };

/* A place in a checkpoint's bytes. */
typedef struct {
    size_t at, size;
} span;

/* A checkpoint as bytes, and the parts of it that are forged. */
typedef struct {
    char settings[200];
    unsigned char *bytes;
    size_t size;
    span blocks[4]; /* run, chain 1, chain 2, anchor */
    span parts[12]; /* states: few bytes with much effect */
    size_t part_count;
} model_file;

/* ---- files to forge ---- */

static sbps_table *the_table(const sbps_options *options)
{
    static double x[ROWS][COLUMNS], y[ROWS];
    sbps_error err = {0};
    sbps_table *table;
    rng random = rng_stream(3, 0, RNG_TEST);
    for (size_t i = 0; i < ROWS; i++) {
        for (size_t j = 0; j < COLUMNS; j++) x[i][j] = rng_normal(&random);
        y[i] = rng_uniform(&random) < 1.0 / (1.0 + exp(-x[i][0]));
    }
    for (size_t i = 0; i < 4; i++) x[i][0] *= 30.0; /* influential rows: strata */
    if (sbps_table_copy(ROWS, COLUMNS, x[0], NULL, y, options, &table, &err) != SBPS_OK)
        give_up("table", &err);
    return table;
}

static span find_block(const model_file *f, const char *name)
{
    uint64_t count, length, size;
    memcpy(&count, f->bytes + 24, WORD);
    size_t at = 32, start = 32;
    for (uint64_t i = 0; i < count; i++) {
        memcpy(&length, f->bytes + start, WORD);
        start += 16 + length;
    }
    for (uint64_t i = 0; i < count; i++, at += 16 + length, start += size) {
        memcpy(&length, f->bytes + at, WORD);
        memcpy(&size, f->bytes + at + 8, WORD);
        if (length == strlen(name) && !memcmp(f->bytes + at + 16, name, length))
            return (span){start, size};
    }
    abort();
}

static void add_part(model_file *f, const chain *c, const void *state, size_t size)
{
    size_t offset = (size_t)((const unsigned char *)state - c->memory.base);
    f->parts[f->part_count++] = (span){f->blocks[1].at + offset, size};
}

static void find_parts(model_file *f, const sbps_run *run)
{
    const chain *c = run->chains;
    static const char *const names[] = {"run", "chain 1", "chain 2", "anchor"};
    for (size_t i = 0; i < 4; i++) f->blocks[i] = find_block(f, names[i]);
    f->parts[f->part_count++] = f->blocks[0];
    add_part(f, c, c->state, sizeof *c->state);
    add_part(f, c, c->batches.state, sizeof *c->batches.state);
    add_part(f, c, c->s.settings, sizeof *c->s.settings);
    add_part(f, c, c->s.state, c->s.kind->state_bytes);
    add_part(f, c, c->m.state, sizeof *c->m.state);
    add_part(f, c, c->counts, sizeof *c->counts);
    add_part(f, c, c->b.state, sizeof *c->b.state);
    add_part(f, c, c->d.state, sizeof *c->d.state);
    add_part(f, c, c->s.p_next, COLUMNS * sizeof(double));
    add_part(f, c, c->s.q_next, COLUMNS * sizeof(double));
}

static void load(model_file *f, const char *path)
{
    FILE *stream = fopen(path, "rb");
    struct stat status;
    if (!stream || fstat(fileno(stream), &status) != 0) abort();
    f->size = (size_t)status.st_size;
    f->bytes = malloc(f->size);
    if (fread(f->bytes, 1, f->size, stream) != f->size) abort();
    fclose(stream);
}

/* A run's checkpoint after some rounds, in warm-up or after it. */
static model_file make_file(const char *of, bool warm_up)
{
    const char *path = sample_path("honest.state");
    model_file f = {0};
    sbps_error err = {0};
    sbps_run *run;
    bool finished = false;
    snprintf(f.settings, sizeof f.settings, "chains=2 draws=20 threads=1 warmup=%d %s",
             warm_up ? 1000000 : 0, of);
    sbps_options *options = options_of(f.settings);
    sbps_options_set(options, "checkpoint", path, &err);
    sbps_options_set(options, "epochs", "1e6", &err);
    sbps_options_set(options, "skeleton", "/dev/null", &err);
    sbps_table *table = the_table(options);
    if (sbps_run_create(table, options, &run, &err) != SBPS_OK) give_up(of, &err);
    run->tuned.round_events = 100;
    for (size_t i = 0; i < run->chain_count; i++) run->chains[i].state->events = 100;
    for (size_t round = 0; round < 3; round++) {
        run->files.last_checkpoint = -1e9; /* each round makes one */
        if (sbps_run_advance(run, &finished, &err) != SBPS_OK) give_up(of, &err);
    }
    load(&f, path);
    find_parts(&f, run);
    sbps_run_destroy(run);
    sbps_table_destroy(table);
    sbps_options_destroy(options);
    return f;
}

/* ---- forging ---- */

static span choose_word(const model_file *f, rng *r)
{
    span s = f->parts[rng_below(r, f->part_count)];
    if (rng_below(r, 3) == 0) s = f->blocks[rng_below(r, 4)];
    return (span){s.at + rng_below(r, s.size / WORD) * WORD, WORD};
}

static uint64_t bits(double value)
{
    uint64_t word;
    memcpy(&word, &value, sizeof word);
    return word;
}

static uint64_t other_word(const model_file *f, uint64_t old, rng *r)
{
    const double reals[] = {NAN,  INFINITY, -INFINITY, 0.0,    -1.0,   1.0,  1e300, -1e300,
                            1e70, -1e70,    1e-300,    1e-320, 3000.0, 1e18, 0.5,   1e9};
    const uint64_t words[] = {0,          1,          2,       3,       4,          255,
                              3000,       UINT64_MAX, 1 << 7,  1 << 16, 1ull << 31, 1ull << 32,
                              1ull << 63, old + 1,    old - 1, old * 2};
    double value;
    memcpy(&value, &old, sizeof value);
    switch (rng_below(r, 7)) {
    case 0:
        return rng_word(r);
    case 1:
        return old ^ 1ull << rng_below(r, 64);
    case 2:
        return bits(reals[rng_below(r, sizeof reals / sizeof *reals)]);
    case 3:
        return words[rng_below(r, sizeof words / sizeof *words)];
    case 4:
        return bits(value * pow(10.0, 40.0 * rng_uniform(r) - 20.0));
    case 5:
        memcpy(&old, f->bytes + f->blocks[1].at + rng_below(r, f->blocks[1].size / WORD) * WORD,
               WORD);
        return old;
    default:
        return rng_below(r, 5000);
    }
}

static void write_forged(const model_file *f, const char *path, span at, uint64_t word)
{
    unsigned char *bytes = malloc(f->size);
    FILE *stream = fopen(path, "wb");
    memcpy(bytes, f->bytes, f->size);
    memcpy(bytes + at.at, &word, WORD);
    uint32_t sum = (uint32_t)crc32_z(crc32_z(0, NULL, 0), bytes, f->size - 4);
    memcpy(bytes + f->size - 4, &sum, sizeof sum);
    if (!stream || fwrite(bytes, 1, f->size, stream) != f->size) abort();
    fclose(stream);
    free(bytes);
}

/* ---- resuming ---- */

static size_t current; /* the current forgery, for the message of a run that hangs */

static void on_hang(int number)
{
    char text[80];
    int length =
        snprintf(text, sizeof text, "forgery %zu does not end (signal %d)\n", current, number);
    if (write(STDOUT_FILENO, text, (size_t)length) < 0) _exit(4);
    _exit(3);
}

static void limit_time(long seconds)
{
    struct itimerval timer = {.it_value = {.tv_sec = seconds}};
    signal(SIGVTALRM, on_hang);
    setitimer(ITIMER_VIRTUAL, &timer, NULL);
}

/* Results of a resumed run. */
static void query(const sbps_run *run)
{
    sbps_result *found;
    sbps_progress progress = {.struct_size = sizeof progress};
    char *text = NULL;
    size_t findings;
    sbps_run_progress(run, &progress);
    if (sbps_run_describe(run, &text, NULL) == SBPS_OK) sbps_free(text);
    if (sbps_result_from_run(run, &found, NULL) != SBPS_OK) return;
    if (sbps_result_summary(found, SBPS_JSON, &text, NULL) == SBPS_OK) sbps_free(text);
    if (sbps_result_diagnose(found, &text, &findings, NULL) == SBPS_OK) sbps_free(text);
    sbps_result_destroy(found);
}

/* True if the file was accepted. */
static bool resume(const model_file *f, const char *path, sbps_error *err)
{
    char all[300];
    sbps_run *run;
    bool finished = false;
    snprintf(all, sizeof all, "%s " RESUMED, f->settings);
    sbps_options *options = options_of(all);
    sbps_options_set(options, "resume", path, NULL);
    sbps_options_set(options, "skeleton", "/dev/null", NULL);
    sbps_table *table = the_table(options);
    limit_time(HANG);
    sbps_status status = sbps_run_create(table, options, &run, err);
    bool believed = status == SBPS_OK;
    for (size_t i = 0; i < ADVANCES && status == SBPS_OK && !finished; i++)
        status = sbps_run_advance(run, &finished, err);
    if (believed) query(run);
    limit_time(0);
    sbps_run_destroy(run);
    sbps_table_destroy(table);
    sbps_options_destroy(options);
    return believed;
}

static size_t number_from(const char *name, size_t otherwise)
{
    const char *text = getenv(name);
    return text && *text ? strtoul(text, NULL, 10) : otherwise;
}

TEST(forged_checkpoints_are_refused_or_continue)
{
    const char *path = sample_path("forged.state");
    model_file files[2 * SETTINGS];
    size_t count = number_from("SBPS_FORGERIES", (size_t)check_size(FEW, 10 * FEW, 1000 * FEW)),
           only = number_from("SBPS_FORGERY", 0);
    uint64_t seed = number_from("SBPS_FORGERY_SEED", 1);
    size_t believed = 0;
    for (size_t i = 0; i < 2 * SETTINGS; i++) files[i] = make_file(settings[i / 2], i % 2);
    for (current = only ? only : 1; current <= (only ? only : count); current++) {
        rng r = rng_stream(seed, current, RNG_TEST);
        const model_file *f = &files[rng_below(&r, 2 * SETTINGS)];
        span at = choose_word(f, &r);
        uint64_t old;
        sbps_error err = {0};
        memcpy(&old, f->bytes + at.at, WORD);
        uint64_t word = other_word(f, old, &r);
        if (only)
            printf("%s: byte %zu of chain 1, %016llx becomes %016llx\n", f->settings,
                   at.at - f->blocks[1].at, (unsigned long long)old, (unsigned long long)word);
        fflush(stdout);
        write_forged(f, path, at, word);
        believed += resume(f, path, &err);
        if (only) printf("%s\n", err.text);
    }
    printf("%zu forgeries, %zu believed\n", count, believed);
    if (!only) CHECK(believed > count / 20 && believed < count - count / 20);
    for (size_t i = 0; i < 2 * SETTINGS; i++) free(files[i].bytes);
}

/* An unchanged checkpoint is accepted: rewriting it changes nothing. */
TEST(an_unchanged_checkpoint_of_any_sampler_is_resumed)
{
    const char *path = sample_path("same.state");
    for (size_t i = 0; i < 2 * SETTINGS; i++) {
        sbps_error err = {0};
        uint64_t word;
        model_file f = make_file(settings[i / 2], i % 2);
        span at = {f.blocks[1].at, WORD};
        memcpy(&word, f.bytes + at.at, WORD);
        write_forged(&f, path, at, word);
        if (!resume(&f, path, &err)) printf("%s: %s\n", f.settings, err.text);
        CHECK(!err.text[0]);
        free(f.bytes);
    }
}

CHECK_MAIN
