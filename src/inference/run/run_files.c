/* Checkpoints and skeletons: written between rounds, read back when a run is resumed.
 *
 * A checkpoint is the run's state and every chain's memory, with the data's hash and the options
 * that decide the path; another run's is refused. */
#include "core/ranks/ranks.h"
#include "core/text.h"
#include "inference/run/replan.h"
#include "store/checkpoint.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define CHECKPOINT_SECONDS 1.0  /* apart at least */
#define CHECKPOINT_RATIO   20.0 /* and so many times as long as writing one takes */

/* Options that may name a file whose content decides the path; a model of that kind has a slash. */
static const char *const named_files[NAMED_FILES] = {"covariance", "model"};
#define CONTENT_OF "content of --"

/* As they are now, when the run is set up: later the files may change without harm. */
static sbps_status digest_files(sbps_run *run, sbps_error *err)
{
    for (size_t i = 0; i < NAMED_FILES; i++) {
        const char *path = options_get(run->options, named_files[i]);
        bool named = *path && (strcmp(named_files[i], "model") || strchr(path, '/'));
        if (!named) continue;
        sbps_status status = checkpoint_digest(path, &run->file_digest[i], err);
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

/* Are effects sampled at the means of their columns? Their coordinates are others than those at 0. */
static bool effects_at_means(const posterior *u)
{
    model_derived of;
    for (size_t j = 0; u->model->row_model && j < u->dim; j++)
        if (posterior_derived(u, j, &of) && of.at_means) return true;
    return false;
}

/* And of what else does. */
static char *path_options(const sbps_run *run)
{
    text out = {0};
    char *lines = run->original_options ? NULL : files_option_lines(run->options);
    text_add(&out, "%s", run->original_options ? run->original_options : lines ? lines : "");
    free(lines);
    if (run->start_hash) text_add(&out, "start=%016" PRIx64 "\n", run->start_hash);
    if (effects_at_means(run->target)) text_add(&out, "effects=at means\n");
    for (size_t i = 0; i < NAMED_FILES; i++)
        if (run->file_digest[i])
            text_add(&out, CONTENT_OF "%s=%016" PRIx64 "\n", named_files[i],
                     run->file_digest[i]);
    return text_take(&out);
}

/* ---- blocks ---- */

/* Everything a checkpoint holds: the run, its chains, the data's hash, the options. */
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
    b->list[b->count++] =
        (checkpoint_block){"anchor", run->cv_centre, run->target->dim * sizeof *run->cv_centre};
    b->list[b->count++] = (checkpoint_block){"data", &b->hash, sizeof b->hash};
    if (run->among)
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

/* The first line in which two option texts differ, for the refusal. */
static sbps_status refuse_options(const char *path, const char *theirs, const char *ours,
                                  sbps_error *err)
{
    const char *line = ours; /* the one in which they part */
    for (; *theirs && *theirs == *ours; theirs++, ours++)
        if (*ours == '\n') line = ours + 1;
    if (!strncmp(line, CONTENT_OF, strlen(CONTENT_OF)))
        return fail(err, SBPS_MISMATCH, "%s: the file of %.*s has another content since", path,
                    (int)(strcspn(line, "=") - strlen(CONTENT_OF) + 2),
                    line + strlen(CONTENT_OF) - 2);
    return fail(err, SBPS_MISMATCH,
                "%s: written by a run with other options (near '%.*s' there, "
                "'%.*s' here)",
                path, (int)strcspn(theirs, "\n"), theirs, (int)strcspn(ours, "\n"), ours);
}

static sbps_status check_owner(const sbps_run *run, const char *path, char *ours,
                               sbps_error *err)
{
    char *theirs = NULL, *hash = NULL;
    size_t size;
    sbps_status status = checkpoint_peek(path, "options", &theirs, &size, err);
    if (status != SBPS_OK) goto done;
    if ((status = checkpoint_peek(path, "data", &hash, &size, err)) != SBPS_OK) goto done;
    if (strcmp(theirs, ours))
        status = refuse_options(path, theirs, ours, err);
    else if (size != sizeof run->table->data->table.hash ||
             memcmp(hash, &run->table->data->table.hash, size))
        status = fail(err, SBPS_MISMATCH, "%s: written by a run on other data", path);
done:
    free(theirs);
    free(hash);
    return status;
}

static void free_copies(unsigned char **copies)
{
    for (size_t i = 0; copies[i]; i++) free(copies[i]);
    free(copies);
}

/* Copies of the chains' memory; NULL when there is none left. */
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

/* The chains of the checkpoint may be those of flights or hmc, which took over from what set-up chose. */
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

sbps_status files_resume(sbps_run *run, sbps_error *err)
{
    const char *path = run->options->resume;
    block_list b;
    sbps_status status = follow_sampler(run, path, err);
    if (status != SBPS_OK) return status;
    if ((status = blocks_make(run, &b, err)) != SBPS_OK) return status;
    status = check_owner(run, path, b.options, err);
    if (status == SBPS_OK) status = load_blocks(run, path, &b, err);
    blocks_free(&b);
    if (status == SBPS_OK) chains_restore(run);
    if (status == SBPS_OK) restart_restore(run);
    if (status != SBPS_OK || run->state.phase != PHASE_DONE) return status;
    /* a longer goal may have been set since; if not, not one round more is flown */
    run->state.next_look = 0.0;
    if (!stop_now(run)) run->state.phase = PHASE_SAMPLING;
    return SBPS_OK;
}

/* ---- files that grow with the path ---- */

/* Something is averaged over already: what is written from now on is not all of it. */
static bool path_begun(const sbps_run *run)
{
    return run->state.phase != PHASE_WARMUP && run->chains->counts->time > 0.0;
}

/* A pipe or a device takes what comes; a file holds the whole path. `written` is what the checkpoint
 * says was in it. */
static sbps_status refuse_gap(const sbps_run *run, const char *option, const char *path,
                              uint64_t written, bool gap, sbps_error *err)
{
    struct stat status;
    bool file = stat(path, &status) != 0 || S_ISREG(status.st_mode);
    if (!*path || !path_begun(run) || !(gap || (file && written == 0))) return SBPS_OK;
    return fail(err, SBPS_MISMATCH,
                "--%s: %s would have a gap: part of this run's path was flown without it; "
                "resume without --%s, or begin anew",
                option, path, option);
}

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

/* What is flown without a file that grows cannot be written to it later. */
static void note_gaps(sbps_run *run)
{
    if (!path_begun(run)) return;
    run->state.skeleton_gap |= !run->skeleton;
    run->state.trace_gap |= !run->trace.stream;
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
        status = skeleton_open(o->skeleton, (const char *const *)run->names, run->target->dim,
                               run->state.skeleton_bytes, &run->skeleton, err);
    return status == SBPS_OK ? trace_begin(run, err) : status;
}

static sbps_status append_skeleton(sbps_run *run, sbps_error *err)
{
    for (size_t i = 0; run->skeleton && i < run->chain_count; i++) {
        const chain *c = &run->chains[i];
        if (!c->skeleton_count) continue;
        sbps_status status =
            skeleton_append(run->skeleton, i, c->skeleton_count, c->skeleton, err);
        if (status != SBPS_OK) return status;
    }
    return SBPS_OK;
}

/* A run is worth more than its checkpoint: it goes on, and warns when they begin to fail and when the
 * last one does. */
static void save_or_warn(sbps_run *run, bool last)
{
    double begin = now();
    sbps_error why = {0};
    bool failed = checkpoint_save(run, &why) != SBPS_OK;
    if (failed && (last || !run->checkpoint_failed))
        fail(&run->warning, why.status, "no checkpoint: %s", why.text);
    run->checkpoint_failed = failed;
    run->last_checkpoint = now();
    run->checkpoint_cost = run->last_checkpoint - begin;
}

sbps_status files_after_round(sbps_run *run, bool last, sbps_error *err)
{
    sbps_status status = append_skeleton(run, err);
    if (status == SBPS_OK) status = trace_after_round(run, err);
    if (status != SBPS_OK) return status;
    note_gaps(run);
    double begin = now(), wait = run->checkpoint_cost * CHECKPOINT_RATIO;
    if (wait < CHECKPOINT_SECONDS) wait = CHECKPOINT_SECONDS;
    bool requested = run->options->checkpoint && *run->options->checkpoint &&
                     ranks_rank(run->among) == 0; /* who has the chains of all */
    bool due = requested && (last || begin - run->last_checkpoint >= wait);
    if (run->skeleton && (due || last))
        status = skeleton_sync(run->skeleton, &run->state.skeleton_bytes, err);
    if (status == SBPS_OK && run->trace.stream && (due || last))
        status = append_file_sync(&run->trace, &run->state.trace_bytes, err);
    if (status == SBPS_OK && due) save_or_warn(run, last);
    return status;
}

void files_close(sbps_run *run)
{
    skeleton_close(run->skeleton);
    run->skeleton = NULL;
    append_file_close(&run->trace);
}
