/* Effects of groups, drawn after the run: one draw for every draw of the parameters phi, group
 * by group, so that only the requested output is kept.
 *
 * Given phi, effects of different groups are independent, so that workers draw groups in any
 * order, each with random numbers of its own. Draws and summaries of a block of groups are in
 * memory at a time. Effects that are functions of coordinates (crossed factors, joint models)
 * are not drawn but computed: derived_quantities.c. */
#include "model/mixed/group_effects.h"
#include "core/decimal.h"
#include "core/threads.h"
#include "inference/options/target.h"
#include "inference/run/derived_quantities.h"
#include "inference/run/group_effects.h"
#include "store/atomic_file.h"

#include <math.h>
#include <string.h>

#define GROUPS_AT_A_TIME ((size_t)256)     /* in a block, distributed over the workers */
#define HELD             ((size_t)1 << 25) /* draws in memory, unless one group has more */
#define DRAWS_MIN        1000.0 /* smallest number of draws per summary, all chains together */
#define DRAWS_ALL_MIN    1e6    /* draws over all groups below which all of them are used */

/* Drawing the effects of all groups, block by block. */
typedef struct {
    const sbps_run *run;
    const void *self;              /* instance of the model of groups */
    size_t max_effects, at_a_time; /* largest number of effects of a group; groups per block */
    size_t groups, chains, draws;  /* draws: per chain */
    size_t *order;                 /* groups in the order of their levels */
    const double **phi;            /* chains * draws */
    effects_sampler *plan;
    unsigned threads;
    bool moments;                /* summaries have means, sds and errors of means only */
    size_t scratch_size;         /* doubles of scratch memory per worker */
    double *scratch;             /* for all workers */
    draw_workspace **workspaces; /* per worker */
    size_t first;                /* first group of the block */
    double *drawn;               /* draws of the block: [group][effect][chain][draw] */
    draw_summary *summary;       /* summaries of the block: [group][effect] */
    effects_accuracy *accuracy;  /* per group of the block */
    size_t name_capacity;
    char *name; /* buffer for the name of an effect */
} effects_job;

static size_t min_size(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Also after a failure of open_job, when some arrays are NULL. */
static void close_job(effects_job *j)
{
    free(j->order);
    free(j->phi);
    effects_sampler_close(j->plan);
    free(j->scratch);
    free(j->drawn);
    free(j->summary);
    for (unsigned i = 0; j->workspaces && i < j->threads; i++)
        draw_workspace_close(j->workspaces[i]);
    free(j->workspaces);
    free(j->accuracy);
    free(j->name);
}

/* Prepares drawing at `each` evenly spaced draws of a chain out of `made`. Close the job also
 * after a failure. */
static sbps_status open_job(const sbps_run *run, size_t made, size_t each, effects_job *j,
                            sbps_error *err)
{
    const void *self = run->target->self;
    const row_groups *g = run->data.member_rows->groups;
    bool integrated = !run->target->model->transformation.apply;
    *j = (effects_job){.run = run,
                       .self = self,
                       .max_effects = mixed_effects_max(self),
                       .groups = integrated ? g->count : 0,
                       .chains = run->chain_count,
                       .draws = each,
                       .threads = run->workers.threads};
    size_t count = j->chains * each, fit = HELD / (j->max_effects * count + 1) + 1;
    j->at_a_time = min_size(min_size(j->groups, GROUPS_AT_A_TIME), fit);
    size_t held = j->at_a_time * j->max_effects;
    j->order = calloc(g->factor[g->by].levels + 1, sizeof *j->order);
    j->phi = calloc(count + 1, sizeof *j->phi);
    j->drawn = new_doubles(held * count + 1);
    j->summary = calloc(held + 1, sizeof *j->summary);
    j->workspaces = calloc(j->threads, sizeof *j->workspaces);
    j->accuracy = calloc(GROUPS_AT_A_TIME, sizeof *j->accuracy);
    j->name_capacity = target_name_size(run->data.member_rows);
    j->name = malloc(j->name_capacity);
    if (!j->order || !j->phi || !j->drawn || !j->summary || !j->workspaces || !j->accuracy ||
        !j->name)
        return fail_memory(err);
    if (!integrated) return SBPS_OK; /* all effects are functions of coordinates */
    mixed_by_level(self, j->order);
    for (size_t i = 0; i < count; i++) {
        /* the middle of the (i % each)-th of `each` equal parts of the draws */
        size_t draw = (2 * (i % each) + 1) * made / (2 * each);
        j->phi[i] = run->chains[i / each].d.w + draw * run->target->dim;
    }
    sbps_status status = effects_sampler_open(self, count, j->phi, &j->plan, err);
    if (status != SBPS_OK) return status;
    j->scratch_size = (effects_scratch(j->plan) + 7) / 8 * 8;
    j->scratch = new_doubles(j->threads * j->scratch_size);
    if (!j->scratch) return fail_memory(err);
    for (unsigned i = 0; i < j->threads && status == SBPS_OK; i++)
        status = draw_workspace_open(j->chains, j->draws, true, &j->workspaces[i], err);
    return status;
}

/* True after Ctrl-C: the effects, which may take minutes, are abandoned to save the parameters.
 */
static bool is_interrupted(const effects_job *j)
{
    return atomic_load_explicit(&j->run->interrupt, memory_order_relaxed);
}

/* Draws and summarises the effects of one group. Runs on any worker. */
static void draw_group(void *self, unsigned worker, size_t index)
{
    effects_job *j = self;
    if (is_interrupted(j)) return;
    size_t count = j->chains * j->draws, g = j->order[j->first + index];
    size_t q = mixed_effects(j->self, g);
    double *to = j->drawn + index * j->max_effects * count;
    j->accuracy[index] = effects_draw(j->plan, g, j->run->options->seed,
                                      j->scratch + worker * j->scratch_size, to);
    for (size_t a = 0; a < q; a++, to += count)
        (j->moments ? summarize_mean_in : summarize_in)(
            j->workspaces[worker], to, &j->summary[index * j->max_effects + a]);
}

/* Draws the next block of groups, from j->first on. *n: its groups. */
static sbps_status draw_next_groups(effects_job *j, size_t *n, sbps_error *err)
{
    *n = min_size(j->groups - j->first, j->at_a_time);
    return workers_run(j->threads, *n, draw_group, j, err);
}

/* Prints the name of effect i of the block to j->name; false: its group has fewer effects. */
static bool name_effect(const effects_job *j, size_t i)
{
    size_t g = j->order[j->first + i / j->max_effects], a = i % j->max_effects;
    if (a >= mixed_effects(j->self, g)) return false;
    mixed_effect_name(j->self, g, a, j->name_capacity, j->name);
    return true;
}

/* Number of draws that every chain has; 0 in warm-up. */
static size_t draws_of_all(const sbps_run *run)
{
    size_t each = SIZE_MAX;
    if (run->state.phase == PHASE_WARMUP) return 0;
    for (size_t c = 0; c < run->chain_count; c++)
        each = min_size(each, run->chains[c].d.state->count);
    return each;
}

/* ---- what is kept ---- */

effects_kept effects_rule(const char *ranef, double effects, double draws_each)
{
    if (!strcmp(ranef, "all")) return EFFECTS_DRAWS;
    if (!is_auto(ranef) || effects == 0.0) return EFFECTS_NONE;
    return effects * draws_each * sizeof(double) <= EFFECTS_BYTES_MAX ? EFFECTS_DRAWS
                                                                      : EFFECTS_MOMENTS;
}

size_t effects_count(const sbps_run *run)
{
    if (!run->target->model->row_model) return 0;
    size_t count = run->target->dim - derived_parameters(run->target);
    if (run->target->model->transformation.apply) return count;
    for (size_t g = 0; g < run->data.member_rows->groups->count; g++)
        count += mixed_effects(run->target->self, g);
    return count;
}

/* The most draws that a run stores, all chains together. */
static double draws_at_most(const sbps_run *run)
{
    return 2.0 * (double)run->options->draws * (double)run->chain_count;
}

double effects_bytes(const sbps_run *run, size_t effects)
{
    return (double)effects * draws_at_most(run) * sizeof(double);
}

effects_kept effects_of_run(const sbps_run *run)
{
    return effects_rule(run->options->ranef, (double)effects_count(run), draws_at_most(run));
}

/* ---- as a CSV file ---- */

/* Number of draws per chain for summaries. Draws of an effect are nearly independent given phi,
 * so as many as the ESS goal of phi are enough; all of them if that is cheap. */
static size_t draws_enough(const sbps_run *run, size_t made)
{
    double groups = (double)run->data.member_rows->groups->count;
    double enough = fmax(fmax(run->options->ess, DRAWS_MIN), DRAWS_ALL_MIN / groups);
    enough = ceil(enough / (double)run->chain_count);
    return enough < (double)made ? (size_t)enough : made;
}

/* Writes a quoted CSV field. */
static void write_name(FILE *to, const char *name)
{
    fputc('"', to);
    for (; *name; name++) {
        if (*name == '"') fputc('"', to);
        fputc(*name, to);
    }
    fputc('"', to);
}

/* Writes the summary of an effect as a CSV line; NAN as an empty cell. */
static void write_effect(FILE *to, const char *name, const draw_summary *s)
{
    write_name(to, name);
    const double numbers[] = {s->mean, s->mcse_mean, s->sd,       s->q5,  s->q50,
                              s->q95,  s->ess_bulk,  s->ess_tail, s->rhat};
    char text[64];
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        decimal_print(text, sizeof text, "%.10g", numbers[i]);
        fprintf(to, ",%s", isnan(numbers[i]) ? "" : text);
    }
    fputc('\n', to);
}

/* Writes the effects that are functions of coordinates. */
static sbps_status write_derived(const sbps_run *run, size_t each, FILE *to, sbps_error *err)
{
    derived_job j = {.run = run, .effects = true, .draws = each};
    sbps_status status = derived_open(&j, err);
    while (derived_next(&j, &status, err))
        for (size_t k = 0; k < j.selected; k++)
            write_effect(to, run->report.names[j.at[k]], &j.summary[k]);
    derived_close(&j);
    return status;
}

/* Adds the errors of a block. out->error holds the sum of squares until finish_summary. */
static void add_group_errors(const effects_job *j, size_t n, sbps_effects *out)
{
    for (size_t i = 0; i < n; i++) {
        double error = j->accuracy[i].error;
        if (isnan(error)) continue;
        out->by_polynomials++;
        out->error += error * error;
        out->worst = fmax(out->worst, error);
    }
}

/* Turns the sum of squared errors into their root mean square. */
static void finish_summary(sbps_effects *out)
{
    out->error = sqrt(out->error / (double)out->by_polynomials);
    if (out->by_polynomials == 0) out->worst = NAN;
}

sbps_status effects_write(const sbps_run *run, const char *path, sbps_effects *out,
                          sbps_error *err)
{
    effects_job j;
    atomic_file file;
    if (!run->target->model->row_model)
        return fail(err, SBPS_BAD_ARG, "--ranef: the table has no groups");
    size_t made = draws_of_all(run);
    sbps_status status = open_job(run, made, draws_enough(run, made), &j, err);
    if (status == SBPS_OK) status = file_begin(path, &file, err);
    if (status != SBPS_OK) {
        close_job(&j);
        return status;
    }
    *out = (sbps_effects){.draws = j.chains * j.draws, .groups = j.groups};
    fputs("name,mean,mcse,sd,q5,q50,q95,ess_bulk,ess_tail,rhat\n", file.stream);
    for (size_t n; j.first < j.groups && status == SBPS_OK; j.first += n) {
        status = draw_next_groups(&j, &n, err);
        if (status == SBPS_OK && is_interrupted(&j))
            status =
                fail(err, SBPS_INTERRUPTED,
                     "%s: not written: interrupted while the group effects were drawn", path);
        for (size_t i = 0; status == SBPS_OK && i < n * j.max_effects; i++)
            if (name_effect(&j, i)) write_effect(file.stream, j.name, &j.summary[i]);
        if (status == SBPS_OK) add_group_errors(&j, n, out);
        if (!file_fine(&file)) break;
    }
    finish_summary(out);
    if (status == SBPS_OK) status = write_derived(run, made, file.stream, err);
    close_job(&j);
    if (status == SBPS_OK) return file_commit(&file, err);
    file_abandon(&file);
    return status;
}

/* ---- as parameters of a result ---- */

sbps_status effects_join(const sbps_run *run, result *r, sbps_error *err)
{
    effects_job j;
    size_t before = r->dim, at = before, count = r->chains * r->draws, total = 0;
    sbps_status status = open_job(run, r->draws, r->draws, &j, err);
    j.moments = true;
    for (size_t g = 0; status == SBPS_OK && g < j.groups; g++)
        total += mixed_effects(j.self, g);
    if (status == SBPS_OK) status = result_widen(r, total, err);
    for (size_t n; j.first < j.groups && status == SBPS_OK && !is_interrupted(&j);
         j.first += n) {
        status = draw_next_groups(&j, &n, err);
        for (size_t i = 0; i < n * j.max_effects && status == SBPS_OK && !is_interrupted(&j);
             i++) {
            if (!name_effect(&j, i)) continue;
            status = derived_store(r, at++, j.name, j.drawn + i * count, &j.summary[i], err);
        }
    }
    /* interrupted: a result has all effects or none */
    if (status == SBPS_OK && at < before + total) result_narrow(r, before);
    close_job(&j);
    return status;
}

/* ---- as means and sds ---- */

/* Evenly spaced draws of each chain from which means and sds are computed: draws of an effect
 * are nearly independent, so that as many as the ESS goal are as accurate as the parameters. */
static size_t draws_for_moments(const sbps_run *run, size_t made)
{
    double enough = ceil(run->options->ess / (double)run->chain_count);
    return enough < (double)made ? (size_t)enough : made;
}

sbps_status effects_add_moments(const sbps_run *run, result *r, sbps_error *err)
{
    effects_job j;
    size_t before = r->effects;
    sbps_status status = open_job(run, r->draws, draws_for_moments(run, r->draws), &j, err);
    j.moments = true;
    for (size_t n; j.first < j.groups && status == SBPS_OK && !is_interrupted(&j);
         j.first += n) {
        status = draw_next_groups(&j, &n, err);
        for (size_t i = 0; i < n * j.max_effects && status == SBPS_OK; i++)
            if (name_effect(&j, i))
                status = result_add_effect(r, j.name, j.summary[i].mean, j.summary[i].sd, err);
    }
    /* interrupted: a result has all effects of a factor or none */
    if (is_interrupted(&j)) result_drop_effects(r, before);
    close_job(&j);
    return status;
}
