/* Checkpoints, skeletons and traces: written between rounds, read back when a run is resumed.
 *
 * A checkpoint holds the run's state and every chain's memory, the hash of the data and the
 * options that affect the path; that of another run is refused. */
#include "inference/run/run_files.h"
#include "core/ranks/ranks.h"
#include "core/text.h"
#include "inference/run/chain.h"
#include "inference/run/chains_on_ranks.h"
#include "inference/run/replan.h"
#include "inference/run/run.h"
#include "inference/run/stop.h"
#include "linalg/dense_matrix.h"
#include "store/checkpoint.h"

#include <float.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* ---- trace ----
 *
 * Observations of one chain are kept in memory for a round. Only a run with --trace does so:
 * its chain gets an observation_sink, and the buffer grows to the longest round. */

/* Sink: appends an observation to the chain's buffer. */
static void take(void *self, const slope_observation *seen)
{
    chain *c = self;
    tracer *t = &c->trace;
    if (t->count == t->capacity) {
        size_t capacity = t->capacity ? 2 * t->capacity : 1024;
        trace_record *more = realloc(t->records, capacity * sizeof *more);
        if (!more) {
            t->lost = true;
            return;
        }
        t->records = more;
        t->capacity = capacity;
    }
    t->records[t->count++] = (trace_record){.time = c->counts->time, .seen = *seen};
}

void trace_switch(chain *c, bool on)
{
    c->trace.count = 0;
    c->trace.watch = (observation_sink){c, take};
    c->s.observer = on && c->trace.enabled ? &c->trace.watch : NULL;
}

/* Opens the file of --trace and turns tracing on for its chain. */
static sbps_status trace_begin(sbps_run *run, sbps_error *err)
{
    const sbps_options *o = run->options;
    if (!o->trace || !*o->trace) return SBPS_OK;
    if (!run->plan->sampler->curve)
        return fail(err, SBPS_BAD_ARG,
                    "--trace: %s has no band to trace; use --sampler sbps, psbps or boomerang",
                    run->plan->sampler->name);
    if (o->trace_chain > run->chain_count)
        return fail(err, SBPS_BAD_ARG, "--trace-chain: there is no chain %zu; the run has %zu",
                    o->trace_chain, run->chain_count);
    run->chains[o->trace_chain - 1].trace.enabled = true;
    return trace_open(o->trace, run->state.trace_bytes, &run->files.trace, err);
}

/* Writes the observations of the round. */
static sbps_status trace_after_round(sbps_run *run, sbps_error *err)
{
    if (!run->files.trace.stream) return SBPS_OK;
    tracer *t = &run->chains[run->options->trace_chain - 1].trace;
    if (t->lost) return fail_memory(err);
    sbps_status status = trace_append(&run->files.trace, t->count, t->records, err);
    t->count = 0;
    return status;
}

/* ---- inspection of a checkpoint ----
 *
 * The file is undamaged and belongs to this run, but a checksum can be forged: every count,
 * index, kind and flag is compared with what this run can have written before it is used, and
 * numbers with their range. */

#define FARTHEST   1e9 /* posterior sd */
#define EPOCHS_MAX 62  /* of warm-up: they double, and rounds are counted in 64 bits */

/* Checks the state of a chain. */
static void inspect_chain_state(const chain_state *s, inspection *x)
{
    INSPECT_ANY(x, s->events);
    INSPECT_KIND(x, s->begun, EVENT_STEP);
    INSPECT_FLAG(x, s->failed);
    if (!x->wrong[0]) inspect_that(x, "a path that has ended", !s->failed);
    INSPECT_WHOLE(x, *s);
}

/* Batches must be those requested, unless chosen automatically; all chains have the same. */
static void inspect_batch(const sbps_run *run, const minibatch_state *s, inspection *x)
{
    const minibatch_state *first = run->chains->batches.state;
    if (!run->plan->auto_batch) {
        inspect_same(x, "the rows of a batch", &s->n, sizeof s->n);
        inspect_same(x, "the kind of batches", &s->kind, sizeof s->kind);
    }
    inspect_that(x, "chains with different batches",
                 s->n == first->n && s->kind == first->kind);
}

/* A position more than FARTHEST posterior sd from the mode is impossible, and a path from there
 * would not return. */
static void inspect_distance(const sbps_run *run, const sampler *s, inspection *x)
{
    size_t d = run->target->dim;
    double square;
    if (run->reference->hessian) {
        square = quadratic_terms(d, run->reference->hessian, s->p_next);
    } else {
        double *y = new_doubles(d);
        if (y) run->geometry.a->kind->precision(run->geometry.a, s->p_next, y);
        square = y ? dot(d, s->p_next, y) : 0.0;
        free(y);
    }
    inspect_that(x, "a position too far from the mode", square < FARTHEST * FARTHEST);
}

void inspect_chain(const sbps_run *run, size_t index, inspection *x)
{
    const chain *c = &run->chains[index];
    inspect_chain_state(c->state, x);
    minibatch_inspect(&c->batches, x);
    inspect_batch(run, c->batches.state, x);
    sampler_inspect(&c->s, run->plan->choose_band && c->s.kind->curve, x);
    if (!x->wrong[0]) inspect_distance(run, &c->s, x);
    moments_inspect(&c->m, x);
    event_counts_inspect(c->counts, x);
    bias_inspect(&c->b, x);
    draws_inspect(&c->d, x);
}

void inspect_run(const sbps_run *run, inspection *x)
{
    const run_state *s = &run->state;
    INSPECT_KIND(x, s->phase, PHASE_DONE);
    INSPECT_ANY(x, s->rounds);
    INSPECT_COUNT(x, s->epoch, EPOCHS_MAX);
    INSPECT_COUNT(x, s->epoch_rounds, ((uint64_t)1 << (s->epoch & 63)));
    INSPECT_COUNT(x, s->goal_reached, 1);
    INSPECT_COUNT(x, s->recentred, 1);
    INSPECT_COUNT(x, s->frozen, 1);
    INSPECT_COUNT(x, s->hmc_took_over, 1);
    INSPECT_REAL(x, s->replaced_cost, 0.0, DBL_MAX);
    INSPECT_REAL(x, s->spent, 0.0, DBL_MAX);
    INSPECT_COUNT(x, s->surrogate_left, 1);
    INSPECT_REAL(x, s->surrogate_cost, 0.0, DBL_MAX);
    INSPECT_REAL(x, s->warmup_proposals, 0.0, DBL_MAX);
    INSPECT_REAL(x, s->warmup_rows, 0.0, DBL_MAX);
    INSPECT_REAL(x, s->seconds_warmup, 0.0, DBL_MAX);
    INSPECT_REAL(x, s->seconds_sampling, 0.0, DBL_MAX);
    INSPECT_REAL(x, s->next_check, 0.0, s->phase == PHASE_SAMPLING ? STOP_CHECK_MAX : DBL_MAX);
    INSPECT_ANY(x, s->skeleton_bytes); /* compared with the file itself */
    INSPECT_ANY(x, s->trace_bytes);
    INSPECT_COUNT(x, s->skeleton_gap, 1);
    INSPECT_COUNT(x, s->trace_gap, 1);
    INSPECT_WHOLE(x, *s);
}

/* SBPS_BAD_FILE with the block and what is wrong with it. */
static sbps_status reject_block(const char *path, const char *what, const inspection *x,
                                sbps_error *err)
{
    return fail(err, SBPS_BAD_FILE, "%s: %s contains an impossible value: %s", path, what,
                x->wrong);
}

/* Checks that the reference point is finite. */
static sbps_status inspect_cv_centre(const sbps_run *run, const char *path, sbps_error *err)
{
    size_t d = run->target->dim;
    inspection x = {.base = (const unsigned char *)run->noise.cv_centre,
                    .size = d * sizeof(double)};
    inspect_reals(&x, "the reference point", run->noise.cv_centre, d, -INSPECT_FARTHEST,
                  INSPECT_FARTHEST);
    return x.wrong[0] ? reject_block(path, "the reference point", &x, err) : SBPS_OK;
}

/* Checks everything that was read. fresh: the chains' memory as set-up made it. */
static sbps_status inspect_checkpoint(sbps_run *run, const char *path,
                                      const unsigned char *const *fresh, sbps_error *err)
{
    inspection x = {.base = (const unsigned char *)&run->state, .size = sizeof run->state};
    inspect_run(run, &x);
    if (x.wrong[0]) return reject_block(path, "the run", &x, err);
    sbps_status status = inspect_cv_centre(run, path, err);
    /* control variate and strata follow the reference point that was read, since batches are
     * checked against them */
    size_t bytes = run->target->dim * sizeof *run->noise.cv_centre;
    if (status == SBPS_OK && run->noise.cv &&
        memcmp(run->noise.cv_centre, run->noise.cv->w, bytes))
        status = replan_recentre(run, err);
    size_t first = 0,
           count =
               run->chain_count; /* on ranks: the own chains, whose batches refer to own rows */
    if (run->ranks.among && !ranks_in_step(run)) ranks_own_chains(run, &first, &count);
    for (size_t i = first; status == SBPS_OK && i < first + count; i++) {
        const arena *memory = &run->chains[i].memory;
        char name[32];
        snprintf(name, sizeof name, "chain %zu", i + 1);
        x = (inspection){.base = memory->base, .fresh = fresh[i], .size = memory->size};
        inspect_chain(run, i, &x);
        if (x.wrong[0]) status = reject_block(path, name, &x, err);
    }
    return status;
}

#define CHECKPOINT_SECONDS 1.0  /* least time between checkpoints */
#define CHECKPOINT_RATIO   20.0 /* and the same as a multiple of the time to write one */

/* Options with a file whose content affects the path; a model is a file if its name has a
 * slash. */
static const char *const named_files[NAMED_FILES] = {"covariance", "model"};
/* Begins the line with the hash of such a file, so that a checkpoint names what has changed. */
#define CONTENT_OF "content of --"

/* Hashes these files at set-up; later changes have no effect on the run. */
static sbps_status digest_files(sbps_run *run, sbps_error *err)
{
    for (size_t i = 0; i < NAMED_FILES; i++) {
        const char *path = options_get(run->options, named_files[i]);
        bool named = *path && (strcmp(named_files[i], "model") || strchr(path, '/'));
        if (!named) continue;
        sbps_status status = checkpoint_digest(path, &run->files.digest[i], err);
        if (status != SBPS_OK) return status;
    }
    return SBPS_OK;
}

char *files_option_lines(const sbps_options *options)
{
    char value[4096];
    text out = {0};
    const char *name;
    bool path;
    text_add(&out, "version=%s\n", SBPS_VERSION);
    for (size_t i = 0; option_text(options, i, &name, &path, sizeof value, value); i++)
        if (path) text_add(&out, "%s=%s\n", name, value);
    return text_take(&out);
}

/* True if effects are sampled at the column means: their coordinates differ from those at 0. */
static bool effects_at_means(const posterior *u)
{
    model_derived of;
    for (size_t j = 0; u->model->row_model && j < u->dim; j++)
        if (posterior_derived(u, j, &of) && of.at_means) return true;
    return false;
}

/* The lines of files_option_lines and of everything else that affects the path; the caller's.
 */
static char *path_options(const sbps_run *run)
{
    text out = {0};
    char *lines = run->ranks.original_options ? NULL : files_option_lines(run->options);
    text_add(&out, "%s",
             run->ranks.original_options ? run->ranks.original_options
             : lines                     ? lines
                                         : "");
    free(lines);
    if (run->geometry.start_hash)
        text_add(&out, "start=%016" PRIx64 "\n", run->geometry.start_hash);
    if (effects_at_means(run->target)) text_add(&out, "effects=at means\n");
    for (size_t i = 0; i < NAMED_FILES; i++)
        if (run->files.digest[i])
            text_add(&out, CONTENT_OF "%s=%016" PRIx64 "\n", named_files[i],
                     run->files.digest[i]);
    return text_take(&out);
}

/* ---- blocks ---- */

/* The blocks of a checkpoint: run, chains, reference point, hash of the data, ranks, options.
 */
typedef struct {
    checkpoint_block *list;
    char (*names)[32];
    size_t count;
    char *options;
    uint64_t hash;
    rank_record ranks;
} block_list;

static void blocks_free(block_list *b)
{
    free(b->list);
    free(b->names);
    free(b->options);
}

/* Lists the blocks of this run's checkpoint, the options last. Free them with blocks_free. */
static sbps_status blocks_make(sbps_run *run, block_list *b, sbps_error *err)
{
    *b = (block_list){.list = calloc(run->chain_count + 5, sizeof *b->list),
                      .names = calloc(run->chain_count, sizeof *b->names),
                      .options = path_options(run),
                      .hash = run->table->data->table.hash,
                      .ranks = restart_record(run)};
    if (!b->list || !b->names || !b->options) {
        blocks_free(b);
        return fail_memory(err);
    }
    b->list[b->count++] = (checkpoint_block){"run", &run->state, sizeof run->state};
    for (size_t i = 0; i < run->chain_count; i++) {
        const arena *memory = &run->chains[i].memory;
        snprintf(b->names[i], sizeof b->names[i], "chain %zu", i + 1);
        b->list[b->count++] = (checkpoint_block){b->names[i], memory->base, memory->size};
    }
    b->list[b->count++] = (checkpoint_block){"anchor", run->noise.cv_centre,
                                             run->target->dim * sizeof *run->noise.cv_centre};
    b->list[b->count++] = (checkpoint_block){"data", &b->hash, sizeof b->hash};
    if (run->ranks.among)
        b->list[b->count++] = (checkpoint_block){"ranks", &b->ranks, sizeof b->ranks};
    b->list[b->count++] = (checkpoint_block){"options", b->options, strlen(b->options)};
    return SBPS_OK;
}

static sbps_status checkpoint_save(sbps_run *run, sbps_error *err)
{
    block_list b;
    sbps_status status = blocks_make(run, &b, err);
    if (status != SBPS_OK) return status;
    status = checkpoint_write(run->options->checkpoint, b.list, b.count, err);
    blocks_free(&b);
    return status;
}

/* ---- resume ---- */

/* Refuses a checkpoint with different options, quoting the first line that differs. */
static sbps_status refuse_options(const char *path, const char *theirs, const char *ours,
                                  sbps_error *err)
{
    const char *line = ours; /* the first line that differs */
    for (; *theirs && *theirs == *ours; theirs++, ours++)
        if (*ours == '\n') line = ours + 1;
    if (!strncmp(line, CONTENT_OF, strlen(CONTENT_OF)))
        return fail(err, SBPS_MISMATCH,
                    "%s: the file given by %.*s has changed since it was written", path,
                    (int)(strcspn(line, "=") - strlen(CONTENT_OF) + 2),
                    line + strlen(CONTENT_OF) - 2);
    return fail(err, SBPS_MISMATCH,
                "%s: written by a run with different options ('%.*s' there, '%.*s' here)", path,
                (int)strcspn(theirs, "\n"), theirs, (int)strcspn(ours, "\n"), ours);
}

/* Lines that need not be equal: the version that wrote them; --missing, which version 0.1.0
 * lists but the hash of the table covers; an option that earlier versions do not have, where it
 * is off. */
static const char *const passed_over[] = {"version=", "missing=", "prior-only=false"};

static bool is_passed_over(const char *line)
{
    for (size_t i = 0; i < sizeof passed_over / sizeof *passed_over; i++)
        if (!strncmp(line, passed_over[i], strlen(passed_over[i]))) return true;
    return false;
}

/* The lines that must be equal for a run to be resumed, the caller's. */
static char *compared_lines(const char *lines)
{
    text out = {0};
    for (size_t length; *lines; lines += length + (lines[length] == '\n')) {
        length = strcspn(lines, "\n");
        if (!is_passed_over(lines)) text_add(&out, "%.*s\n", (int)length, lines);
    }
    return text_take(&out);
}

/* SBPS_MISMATCH if the checkpoint was written with other options or data. The block of options
 * becomes that of the checkpoint, whose version, and so its length, may differ. */
static sbps_status check_owner(const char *path, block_list *b, sbps_error *err)
{
    checkpoint_block *block = &b->list[b->count - 1];
    char *theirs = NULL, *hash = NULL, *there = NULL, *here = NULL;
    size_t length, size;
    sbps_status status = checkpoint_peek(path, "options", &theirs, &length, err);
    if (status != SBPS_OK) goto done;
    if ((status = checkpoint_peek(path, "data", &hash, &size, err)) != SBPS_OK) goto done;
    there = compared_lines(theirs);
    here = compared_lines(b->options);
    if (!there || !here) {
        status = fail_memory(err);
    } else if (strcmp(there, here)) {
        status = refuse_options(path, there, here, err);
    } else if (size != sizeof b->hash || memcmp(hash, &b->hash, size)) {
        status = fail(err, SBPS_MISMATCH, "%s: written by a run on different data", path);
    } else {
        free(b->options);
        *block = (checkpoint_block){block->name, b->options = theirs, length};
        theirs = NULL;
    }
done:
    free(theirs);
    free(hash);
    free(there);
    free(here);
    return status;
}

/* The list ends with NULL. */
static void free_copies(unsigned char **copies)
{
    for (size_t i = 0; copies[i]; i++) free(copies[i]);
    free(copies);
}

/* Copies of the chains' memory, ended by NULL; NULL: no memory. */
static unsigned char **copy_chains(const sbps_run *run)
{
    unsigned char **copies = calloc(run->chain_count + 1, sizeof *copies);
    for (size_t i = 0; copies && i < run->chain_count; i++) {
        const arena *memory = &run->chains[i].memory;
        if (!(copies[i] = aligned_zeroed(memory->size))) {
            free_copies(copies);
            return NULL;
        }
        memcpy(copies[i], memory->base, memory->size);
    }
    return copies;
}

/* Reads the blocks into the run and inspects them. */
static sbps_status load_blocks(sbps_run *run, const char *path, const block_list *b,
                               sbps_error *err)
{
    unsigned char **fresh = copy_chains(run);
    if (!fresh) return fail_memory(err);
    sbps_status status = checkpoint_read(path, b->list, b->count, err);
    if (status == SBPS_OK) restart_unbind(run);
    if (status == SBPS_OK)
        status = inspect_checkpoint(run, path, (const unsigned char *const *)fresh, err);
    free_copies(fresh);
    return status;
}

/* Switches to the sampler of the checkpoint, if warm-up had replaced the one of set-up. */
static sbps_status follow_sampler(sbps_run *run, const char *path, sbps_error *err)
{
    char *bytes = NULL;
    run_state kept;
    size_t size;
    sbps_status status = checkpoint_peek(path, "run", &bytes, &size, err);
    if (status != SBPS_OK) return status;
    memset(&kept, 0, sizeof kept);
    if (size == sizeof kept) memcpy(&kept, bytes, size);
    free(bytes);
    if (kept.surrogate_left && run_may_leave_surrogate(run))
        status = replan_take_alternative(run, err);
    if (status != SBPS_OK) return status;
    return kept.hmc_took_over && plan_may_take_hmc(run->options, run->plan)
               ? replan_take_hmc(run, err)
               : SBPS_OK;
}

/* Reads the checkpoint of --resume into the run, after checking that it belongs to it. */
static sbps_status files_resume(sbps_run *run, sbps_error *err)
{
    const char *path = run->options->resume;
    block_list b;
    sbps_status status = follow_sampler(run, path, err);
    if (status != SBPS_OK) return status;
    if ((status = blocks_make(run, &b, err)) != SBPS_OK) return status;
    status = check_owner(path, &b, err);
    if (status == SBPS_OK) status = load_blocks(run, path, &b, err);
    blocks_free(&b);
    if (status == SBPS_OK) chains_restore(run);
    if (status == SBPS_OK) restart_restore(run);
    if (status != SBPS_OK || run->state.phase != PHASE_DONE) return status;
    /* the goal may be higher now; if not, no further round is made */
    run->state.next_check = 0.0;
    if (!stop_now(run)) run->state.phase = PHASE_SAMPLING;
    return SBPS_OK;
}

/* ---- files that grow with the path ---- */

/* True if sampling has begun: a file opened now would not be complete. */
static bool path_begun(const sbps_run *run)
{
    return run->state.phase != PHASE_WARMUP && run->chains->counts->time > 0.0;
}

/* Refuses to continue a file that would lack part of the path; a pipe or a device may. written:
 * its length according to the checkpoint. */
static sbps_status refuse_gap(const sbps_run *run, const char *option, const char *path,
                              uint64_t written, bool gap, sbps_error *err)
{
    struct stat status;
    bool file = stat(path, &status) != 0 || S_ISREG(status.st_mode);
    if (!*path || !path_begun(run) || !(gap || (file && written == 0))) return SBPS_OK;
    return fail(err, SBPS_MISMATCH,
                "--%s: %s would have a gap, because part of this run was sampled without it; "
                "resume without --%s, or start a new run",
                option, path, option);
}

/* Refuses a skeleton or a trace that would lack part of the path. */
static sbps_status check_gaps(const sbps_run *run, sbps_error *err)
{
    const sbps_options *o = run->options;
    const run_state *s = &run->state;
    sbps_status status = refuse_gap(run, "skeleton", o->skeleton ? o->skeleton : "",
                                    s->skeleton_bytes, s->skeleton_gap, err);
    if (status != SBPS_OK) return status;
    return refuse_gap(run, "trace", o->trace ? o->trace : "", s->trace_bytes, s->trace_gap,
                      err);
}

/* ---- between rounds ---- */

sbps_status files_open(sbps_run *run, sbps_error *err)
{
    sbps_options *o = run->options;
    sbps_status status = SBPS_OK;
    if (o->dry_run) return SBPS_OK;
    if ((status = digest_files(run, err)) != SBPS_OK) return status;
    if (o->resume && *o->resume) {
        if ((status = files_resume(run, err)) != SBPS_OK) return status;
        if (!o->checkpoint || !*o->checkpoint)
            status = options_set(o, "checkpoint", o->resume, err);
        if (status == SBPS_OK) status = check_gaps(run, err);
        if (status != SBPS_OK) return status;
    }
    if (o->skeleton && *o->skeleton)
        status = skeleton_open(o->skeleton, (const char *const *)run->report.coordinates,
                               run->target->dim, run->state.skeleton_bytes,
                               &run->files.skeleton, err);
    return status == SBPS_OK ? trace_begin(run, err) : status;
}

/* Writes the skeleton records of the round. */
static sbps_status append_skeleton(sbps_run *run, sbps_error *err)
{
    for (size_t i = 0; run->files.skeleton && i < run->chain_count; i++) {
        const chain *c = &run->chains[i];
        if (!c->skeleton_count) continue;
        sbps_status status =
            skeleton_append(run->files.skeleton, i, c->skeleton_count, c->skeleton, err);
        if (status != SBPS_OK) return status;
    }
    return SBPS_OK;
}

/* Saves a checkpoint. A failure does not stop the run; it warns at the first failure and at the
 * last. */
static void save_or_warn(sbps_run *run, bool last)
{
    double begin = now();
    sbps_error why = {0};
    bool failed = checkpoint_save(run, &why) != SBPS_OK;
    if (failed && (last || !run->files.checkpoint_failed))
        fail(&run->warning, why.status, "checkpoint not written: %s", why.text);
    run->files.checkpoint_failed = failed;
    run->files.last_checkpoint = now();
    run->files.checkpoint_cost = run->files.last_checkpoint - begin;
}

sbps_status files_after_round(sbps_run *run, bool last, sbps_error *err)
{
    sbps_status status = append_skeleton(run, err);
    if (status == SBPS_OK) status = trace_after_round(run, err);
    if (status != SBPS_OK) return status;
    if (path_begun(run)) { /* a file that is not open misses this part of the path */
        run->state.skeleton_gap |= !run->files.skeleton;
        run->state.trace_gap |= !run->files.trace.stream;
    }
    double begin = now(), wait = run->files.checkpoint_cost * CHECKPOINT_RATIO;
    if (wait < CHECKPOINT_SECONDS) wait = CHECKPOINT_SECONDS;
    bool requested = run->options->checkpoint && *run->options->checkpoint &&
                     ranks_rank(run->ranks.among) == 0; /* only rank 0 writes */
    bool due = requested && (last || begin - run->files.last_checkpoint >= wait);
    if (run->files.skeleton && (due || last))
        status = skeleton_sync(run->files.skeleton, &run->state.skeleton_bytes, err);
    if (status == SBPS_OK && run->files.trace.stream && (due || last))
        status = append_file_sync(&run->files.trace, &run->state.trace_bytes, err);
    if (status == SBPS_OK && due) save_or_warn(run, last);
    return status;
}

void files_close(sbps_run *run)
{
    skeleton_close(run->files.skeleton);
    run->files.skeleton = NULL;
    append_file_close(&run->files.trace);
}
