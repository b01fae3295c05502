/* Limits hold within rounds: a round of `nuts` can be 128 trajectories of 1023 steps, minutes of
 * computing on a small table. */
#include "check.h"
#include "inference/autotune/run_plan.h"
#include "inference/run/run.h"
#include "inference/run/stop.h"
#include "stat/sample.h"

#define CROSSED "model=poisson formula=y~1+(1|a)+(1|b) seed=2 chains=2 sampler=auto "

/* Counts with two crossed factors, which `auto` samples by nuts. */
static sbps_table *crossed_table(const sbps_options *options)
{
    char path[256];
    sbps_error err = {0};
    sbps_table *table;
    rng r = rng_stream(8, 0, RNG_TEST);
    temporary_name(sizeof path, path);
    FILE *file = fopen(path, "w");
    if (!file) give_up(path, &err);
    fprintf(file, "y,a,b\n");
    for (size_t i = 0; i < 120; i++)
        fprintf(file, "%zu,a%zu,b%zu\n", (size_t)rng_below(&r, 5), i % 8,
                (size_t)rng_below(&r, 6));
    fclose(file);
    if (sbps_table_read(path, options, NULL, &table, &err) != SBPS_OK) give_up(path, &err);
    unlink(path);
    return table;
}

typedef struct {
    sbps_options *options;
    sbps_table *table;
    sbps_run *run;
} trial;

static trial begin(const char *settings)
{
    trial t = {.options = options_of(settings)};
    sbps_error err = {0};
    if (sbps_options_set(t.options, "sampler", "auto", &err) != SBPS_OK) give_up("auto", &err);
    t.table = crossed_table(t.options);
    if (sbps_run_create(t.table, t.options, &t.run, &err) != SBPS_OK) give_up("run", &err);
    CHECK(!strcmp(t.run->plan->sampler->name, "nuts"));
    return t;
}

/* Advances to the end; the largest number of steps of a chain in a round. */
static uint64_t longest_round(trial *t, size_t *rounds)
{
    bool finished = false;
    uint64_t longest = 0;
    sbps_error err = {0};
    for (*rounds = 0; !finished; ++*rounds) {
        if (sbps_run_advance(t->run, &finished, &err) != SBPS_OK) give_up("advance", &err);
        for (size_t i = 0; i < t->run->chain_count; i++)
            if (t->run->chains[i].state->events > longest)
                longest = t->run->chains[i].state->events;
    }
    return longest;
}

static void end(trial *t)
{
    sbps_run_destroy(t->run);
    sbps_table_destroy(t->table);
    sbps_options_destroy(t->options);
}

TEST(without_a_limit_rounds_are_long)
{
    size_t rounds;
    trial t = begin(CROSSED "ess=100");
    CHECK(longest_round(&t, &rounds) > 10);
    CHECK(t.run->warning.status == SBPS_OK);
    end(&t);
}

TEST(spent_work_ends_a_round_after_one_step)
{
    size_t rounds;
    trial t = begin(CROSSED "ess=100");
    t.run->state.warmup_rows = 1e30;
    CHECK(out_of_work(t.run));
    CHECK(longest_round(&t, &rounds) == 1);
    CHECK(rounds <= 3);
    CHECK(strstr(t.run->warning.text, "computing limit") != NULL);
    end(&t);
}

/* The goal of a larger ESS has a larger limit. */
TEST(work_is_limited_by_the_goal)
{
    trial few = begin(CROSSED "ess=400"), many = begin(CROSSED "ess=4000");
    double visits = 1.0;
    while (few.run->state.warmup_rows = visits, !out_of_work(few.run)) visits *= 1.1;
    many.run->state.warmup_rows = 9.0 * visits;
    CHECK(!out_of_work(many.run));
    many.run->state.warmup_rows = 10.1 * visits;
    CHECK(out_of_work(many.run));
    end(&few);
    end(&many);
}

TEST(seconds_end_a_round_after_one_step)
{
    size_t rounds;
    trial t = begin(CROSSED "seconds=1e-9");
    CHECK(longest_round(&t, &rounds) == 1);
    CHECK(rounds <= 3);
    end(&t);
}

CHECK_MAIN
