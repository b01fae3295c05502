/* The public interface of a run: advance, progress, stopping rules, interrupts. */
#include "check.h"
#include "stat/sample.h"

#include "core/rng.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#define ROWS    2000
#define COLUMNS 4
#define CHAINS  2

typedef struct {
    sbps_options *options;
    sbps_table *table;
    sbps_run *run;
} sampling;

static double clock_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static sampling start(const char *settings)
{
    static double x[ROWS][COLUMNS], y[ROWS];
    sampling f = {0};
    char all[256];
    sbps_error err = {0};
    rng random = rng_stream(8, 0, RNG_TEST);
    for (size_t i = 0; i < ROWS; i++) {
        double eta = 0.0;
        for (size_t j = 0; j < COLUMNS; j++) eta += x[i][j] = rng_normal(&random);
        y[i] = rng_uniform(&random) < 1.0 / (1.0 + exp(-eta));
    }
    snprintf(all, sizeof all, "model=logistic chains=%d %s", CHAINS, settings);
    f.options = options_of(all);
    if (sbps_table_copy(ROWS, COLUMNS, x[0], NULL, y, f.options, &f.table, &err) != SBPS_OK)
        give_up("table", &err);
    if (sbps_run_create(f.table, f.options, &f.run, &err) != SBPS_OK) give_up("run", &err);
    return f;
}

static void end(sampling *f)
{
    sbps_run_destroy(f->run);
    sbps_table_destroy(f->table);
    sbps_options_destroy(f->options);
}

static bool advance(sampling *f)
{
    bool finished;
    sbps_error err = {0};
    if (sbps_run_advance(f->run, &finished, &err) != SBPS_OK) give_up("advance", &err);
    return finished;
}

static sbps_result *result_of(const sampling *f)
{
    sbps_result *r;
    sbps_error err = {0};
    if (sbps_result_from_run(f->run, &r, &err) != SBPS_OK) give_up("result", &err);
    return r;
}

/* Advances to the end and checks the progress reports against their contract. */
static sbps_progress run_watched(sampling *f)
{
    sbps_progress p = {.struct_size = sizeof p}, before = {.warming_up = true};
    double fraction_before = 0.0;
    bool finished = false;
    while (!finished) {
        finished = advance(f);
        sbps_run_progress(f->run, &p);
        CHECK(p.rounds == before.rounds + 1);
        CHECK(p.proposals > before.proposals);
        CHECK(p.seconds >= before.seconds && p.proposals_per_second > 0.0);
        CHECK(p.share_done >= 0.0 && p.share_done <= 1.0);
        CHECK(before.warming_up || !p.warming_up);
        CHECK(!p.warming_up || p.share_done == 0.0);
        CHECK(isnan(p.seconds_left) || p.seconds_left >= 0.0);
        CHECK(p.share_done >= fraction_before); /* an ESS may be estimated again */
        /* the seconds of warm-up are counted one round later */
        CHECK(finished ? p.share_done == 1.0 : p.share_done < 1.0 || before.warming_up);
        fraction_before = p.share_done;
        before = p;
    }
    CHECK(!p.warming_up && p.share_done == 1.0);
    return p;
}

TEST(ess_rule_stops_when_every_parameter_has_its_ess)
{
    sampling f = start("ess=700");
    sbps_progress p = run_watched(&f);
    sbps_result *r = result_of(&f);
    CHECK(p.min_ess >= 700.0 && p.min_ess < 1400.0);
    CHECK(r->info.min_ess == p.min_ess && r->info.ess_goal == 700.0);
    for (size_t j = 0; j < r->dim; j++)
        CHECK(r->ess_mean[j] >= 700.0 && r->ess_square[j] >= 700.0);
    CHECK(p.max_rhat < 1.05 && p.bias_estimate < 0.02);
    CHECK(!r->info.interrupted && r->draws >= 1000);
    CHECK(advance(&f)); /* stays finished, with the same result */
    sbps_result *again = result_of(&f);
    CHECK(again->info.proposals == r->info.proposals && again->mean[0] == r->mean[0]);
    sbps_result_destroy(again);
    sbps_result_destroy(r);
    end(&f);
}

/* hmc makes one draw per step, and its draws are nearly independent. */
TEST(the_requested_draws_are_made_if_the_ess_is_reached_first)
{
    sampling f = start("sampler=hmc ess=50 draws=1500");
    run_watched(&f);
    sbps_result *r = result_of(&f);
    CHECK(r->draws >= 1500);
    sbps_result_destroy(r);
    end(&f);
}

/* Rows of all chains together, to within a round: 1024 events of each chain. */
TEST(epochs_rule_counts_the_rows_of_all_chains)
{
    sampling f = start("epochs=3000 draws=10");
    run_watched(&f);
    sbps_result *r = result_of(&f);
    double epochs = r->info.rows_touched / ROWS;
    CHECK(epochs >= 3000.0 && epochs < 4000.0);
    CHECK(r->info.ess_goal == 0.0);
    sbps_result_destroy(r);
    end(&f);
}

TEST(seconds_rule_stops_in_time)
{
    sampling f = start("seconds=0.7");
    double begin = clock_now();
    sbps_progress p = run_watched(&f);
    double took = clock_now() - begin;
    CHECK(p.seconds >= 0.7 && took < 10.0);
    end(&f);
}

TEST(the_first_rule_that_holds_stops)
{
    sampling f = start("ess=1e9 epochs=1e9 seconds=0.4");
    run_watched(&f);
    end(&f);
    f = start("ess=100 epochs=1e9 seconds=1000");
    sbps_progress p = run_watched(&f);
    CHECK(p.min_ess >= 100.0 && p.seconds < 100.0);
    end(&f);
}

TEST(warm_up_takes_the_requested_proposals_and_at_most_one_round_more)
{
    sampling f = start("warmup=5000 ess=100");
    sbps_progress p = {.struct_size = sizeof p, .warming_up = true}, before = p;
    while (p.warming_up) {
        before = p;
        CHECK(!advance(&f));
        sbps_run_progress(f.run, &p);
    }
    CHECK(p.proposals >= 5000.0 * CHAINS && before.proposals < 5000.0 * CHAINS);
    end(&f);
}

/* ---- interrupts ---- */

typedef struct {
    sbps_run *run;
    atomic_bool sampling; /* warm-up is over, there are draws */
} interrupted_run;

static void *interrupt_later(void *self)
{
    interrupted_run *it = self;
    while (!atomic_load(&it->sampling)) usleep(1000);
    sbps_run_interrupt(it->run);
    return NULL;
}

/* The result of a run that ended early can be written and read back. */
static void check_readable(const sbps_result *r)
{
    char path[256], file[300];
    sbps_error err = {0};
    sbps_result *back = NULL;
    char *message = NULL;
    size_t findings = 0;
    temporary_name(sizeof path, path);
    snprintf(file, sizeof file, "%s.nc", path);
    CHECK(sbps_result_write(r, file, &err) == SBPS_OK);
    CHECK(sbps_result_read(file, &back, &err) == SBPS_OK);
    if (!back) printf("message: %s\n", err.text);
    unlink(file);
    unlink(path);
    REQUIRE(back);
    CHECK(back->info.interrupted && back->draws == r->draws && back->dim == r->dim);
    CHECK(!memcmp(back->w, r->w, r->chains * r->draws * r->dim * sizeof *r->w));
    CHECK(sbps_result_diagnose(back, &message, &findings, &err) == SBPS_OK);
    CHECK(findings > 0 && message && strstr(message, "interrupt"));
    sbps_free(message);
    CHECK(sbps_result_summary(back, SBPS_JSON, &message, &err) == SBPS_OK);
    sbps_free(message);
    sbps_result_destroy(back);
}

TEST(interrupt_from_another_thread_finishes_the_run)
{
    sampling f = start("ess=1e9");
    interrupted_run it = {.run = f.run};
    size_t rounds = 0; /* of sampling */
    pthread_t thread;
    REQUIRE(pthread_create(&thread, NULL, interrupt_later, &it) == 0);
    while (!advance(&f)) { /* endless without the interrupt */
        sbps_progress p = {.struct_size = sizeof p};
        sbps_run_progress(f.run, &p);
        rounds += !p.warming_up;
        if (rounds > 2) atomic_store(&it.sampling, true);
    }
    pthread_join(thread, NULL);
    sbps_result *r = result_of(&f);
    CHECK(r->info.interrupted && r->draws > 0);
    check_readable(r);
    sbps_result_destroy(r);
    end(&f);
}

TEST(interrupt_in_warm_up_gives_a_readable_result)
{
    sampling f = start("warmup=1e9");
    sbps_progress p = {.struct_size = sizeof p};
    CHECK(!advance(&f));
    sbps_run_interrupt(f.run);
    CHECK(advance(&f));
    sbps_run_progress(f.run, &p);
    CHECK(p.warming_up && p.share_done == 0.0);
    sbps_result *r = result_of(&f);
    check_readable(r);
    sbps_parameter w = {.struct_size = sizeof w};
    CHECK(r->draws == 0); /* no draws, no estimates */
    for (size_t j = 0; j < r->dim; j++) {
        CHECK(sbps_result_parameter(r, j, &w, NULL) == SBPS_OK);
        CHECK(isnan(w.mean) && isnan(w.sd) && isnan(w.mcse) && isnan(w.bias));
        CHECK(isnan(r->mean[j]) && isnan(r->sd[j]) && isnan(r->bias[j]));
    }
    CHECK(isnan(r->info.bias_estimate));
    sbps_result_destroy(r);
    end(&f);
}

TEST(interrupt_before_the_first_event_gives_a_readable_result)
{
    sampling f = start("");
    sbps_run_interrupt(f.run);
    CHECK(advance(&f));
    sbps_result *r = result_of(&f);
    CHECK(r->draws == 0);
    check_readable(r);
    sbps_result_destroy(r);
    end(&f);
}

CHECK_MAIN
