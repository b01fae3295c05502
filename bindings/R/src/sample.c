/* A table and options become a run; rounds are flown by a thread of their own, so that R's may look
 * for interrupts; what was drawn goes to a file. */
#include "sbps_r.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define CHECK_NANOSECONDS 100000000 /* between two looks for an interrupt */
#define NEWS_MOST         16

typedef struct {
    sbps_options *options;
    sbps_table *table;
    sbps_run *run;
    sbps_result *result;
    bool interrupted, tells;
    bool setting_up; /* there is no run yet */
    bool alone;      /* R's own thread does it all: the model is a function of R */
    size_t news;     /* warnings of the run, the first of them */
    sbps_error warning[NEWS_MOST];
    sbps_progress state;
} task;

static void end_task(task *t)
{
    sbps_result_destroy(t->result);
    sbps_run_destroy(t->run);
    sbps_table_destroy(t->table);
    sbps_options_destroy(t->options);
}

/* ---- set-up ---- */

/* Texts that R has translated, so that R need not be asked once there are handles to lose. */
typedef struct {
    size_t count;
    const char **name, **value;
} settings;

static settings settings_of(SEXP options)
{
    SEXP names = Rf_getAttrib(options, R_NamesSymbol);
    settings s = {.count = (size_t)Rf_xlength(options)};
    want_vector(names, STRSXP, s.count, "names of options");
    s.name = (const char **)R_alloc(s.count + 1, sizeof *s.name);
    s.value = (const char **)R_alloc(s.count + 1, sizeof *s.value);
    for (size_t k = 0; k < s.count; k++) {
        s.name[k] = utf8(STRING_ELT(names, (R_xlen_t)k));
        s.value[k] = utf8(STRING_ELT(options, (R_xlen_t)k));
    }
    return s;
}

static sbps_status set_options(task *t, const settings *s, sbps_error *err)
{
    sbps_status status = sbps_options_create(&t->options, err);
    for (size_t k = 0; status == SBPS_OK && k < s->count; k++)
        status = sbps_options_set(t->options, s->name[k], s->value[k], err);
    return status;
}

static bool go_on(void *self, const char *stage, size_t rows, double share)
{
    task *t = self;
    (void)stage;
    (void)rows;
    (void)share;
    t->interrupted = interrupt_is_pending();
    return !t->interrupted;
}

/* ---- set-up and rounds, apart ---- */

typedef sbps_status piece_of_work(task *t, bool *finished, sbps_error *err);

typedef struct {
    task *of;
    piece_of_work *work;
    pthread_mutex_t lock;
    pthread_cond_t ended;
    bool over, finished;
    sbps_status status;
    sbps_error err;
} background_call;

static sbps_status set_up(task *t, bool *finished, sbps_error *err)
{
    *finished = true;
    return sbps_run_create(t->table, t->options, &t->run, err);
}

static sbps_status advance(task *t, bool *finished, sbps_error *err)
{
    return sbps_run_advance(t->run, finished, err);
}

static void *run_call(void *self)
{
    background_call *f = self;
    bool finished = false;
    sbps_status status = f->work(f->of, &finished, &f->err);
    pthread_mutex_lock(&f->lock);
    f->status = status;
    f->finished = finished;
    f->over = true;
    pthread_cond_signal(&f->ended);
    pthread_mutex_unlock(&f->lock);
    return NULL;
}

static bool wait_a_little(background_call *f)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += CHECK_NANOSECONDS;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_mutex_lock(&f->lock);
    int rc = 0;
    while (!f->over && rc == 0) rc = pthread_cond_timedwait(&f->ended, &f->lock, &until);
    bool over = f->over;
    pthread_mutex_unlock(&f->lock);
    return over;
}

/* Signals are R's: its own thread takes them. */
static bool begin_round(background_call *f, pthread_t *thread)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool begun = pthread_create(thread, NULL, run_call, f) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return begun;
}

static void check_interrupt(task *t)
{
    if (t->interrupted || !interrupt_is_pending()) return;
    t->interrupted = true;
    if (t->setting_up)
        sbps_table_interrupt(t->table);
    else
        sbps_run_interrupt(t->run);
}

static sbps_status do_apart(task *t, piece_of_work *work, bool *finished, sbps_error *err)
{
    pthread_t thread;
    background_call f = {.of = t, .work = work, .status = SBPS_OK};
    pthread_mutex_init(&f.lock, NULL);
    pthread_cond_init(&f.ended, NULL);
    if (!t->alone && begin_round(&f, &thread)) {
        while (!wait_a_little(&f)) check_interrupt(t);
        pthread_join(thread, NULL);
    } else { /* alone, or no thread to be had: without checks for interrupts */
        run_call(&f);
    }
    check_interrupt(t);
    pthread_cond_destroy(&f.ended);
    pthread_mutex_destroy(&f.lock);
    *finished = f.finished || t->interrupted;
    if (f.status != SBPS_OK) *err = f.err;
    return f.status;
}

static void tell_state(const task *t, bool finished)
{
    if (!t->tells) return;
    REprintf("\rsbps: %3.0f%%  ESS %.0f  %.3g proposals/s ", 100.0 * t->state.share_done,
             t->state.min_ess, t->state.proposals_per_second);
    if (finished) REprintf("\n");
}

static sbps_status fly_all(task *t, sbps_error *err)
{
    bool finished = false;
    sbps_status status = SBPS_OK;
    while (status == SBPS_OK && !finished) {
        status = do_apart(t, advance, &finished, err);
        while (t->news < NEWS_MOST && sbps_run_warning(t->run, &t->warning[t->news])) t->news++;
        sbps_run_progress(t->run, &t->state);
        tell_state(t, finished || status != SBPS_OK);
    }
    return status;
}

/* ---- what is kept ---- */

/* A file that cannot be written for the user is a warning: the fit has the draws. */
static void keep_for_user(task *t, const char *path)
{
    sbps_error why;
    if (!path || sbps_result_write(t->result, path, &why) == SBPS_OK) return;
    if (t->news == NEWS_MOST) t->news--;
    t->warning[t->news++] = why;
}

static sbps_status keep(task *t, const char *command, const char *output, const char *kept,
                        sbps_error *err)
{
    sbps_status status = sbps_result_from_run(t->run, &t->result, err);
    if (status != SBPS_OK) return status;
    if (sbps_result_draws(t->result) == 0) return SBPS_BAD_DATA; /* an interrupt came first */
    status = sbps_result_set_command(t->result, command, err);
    if (status == SBPS_OK) status = sbps_result_write(t->result, output, err);
    if (status == SBPS_OK) keep_for_user(t, kept);
    return status;
}

/* What the user should act on, in one sentence; "": nothing. */
static SEXP warning_of(const task *t)
{
    char more[1024] = "", *text = NULL;
    for (size_t k = 0; k < t->news; k++) {
        size_t used = strlen(more);
        if (strstr(more, t->warning[k].text)) continue;
        snprintf(more + used, sizeof more - used, "%s%s", used ? "; " : "", t->warning[k].text);
    }
    SEXP out = PROTECT(
        text_of(sbps_result_warning(t->result, more, &text, NULL) == SBPS_OK ? text : more));
    sbps_free(text);
    UNPROTECT(1);
    return out;
}

static SEXP told_by(const task *t, const char *described)
{
    static const char *const names[] = {"description", "notes",        "warning", "interrupted",
                                        "min_ess",     "rows_per_ess", ""};
    SEXP out = PROTECT(Rf_mkNamed(VECSXP, (const char **)names));
    SET_VECTOR_ELT(out, 0, text_of(described));
    SET_VECTOR_ELT(out, 1, text_of(sbps_table_notes(t->table)));
    SET_VECTOR_ELT(out, 2, warning_of(t));
    SET_VECTOR_ELT(out, 3, Rf_ScalarLogical(t->interrupted));
    SET_VECTOR_ELT(out, 4, Rf_ScalarReal(t->state.min_ess));
    SET_VECTOR_ELT(out, 5, Rf_ScalarReal(t->state.rows_per_ess));
    UNPROTECT(1);
    return out;
}

static SEXP failed(const task *t, const sbps_error *err)
{
    if (!t->interrupted) return failure_of(err);
    return failure_called("SBPS_INTERRUPTED", "interrupted before any draws were made");
}

/* ---- all of it ---- */

typedef struct {
    const char *path; /* NULL: columns */
    column_set columns;
    settings set;
    const char *command, *output;
    const char *kept; /* the output file that the user names; NULL: none */
    own_model *model; /* NULL: one of the library's */
} request;

/* An interrupt came while a function of R was asked. */
static bool heed(void *self)
{
    task *t = self;
    t->interrupted = true;
    if (t->run) sbps_run_interrupt(t->run);
    return t->run != NULL;
}

static sbps_status open_table(task *t, const request *r, sbps_error *err)
{
    const sbps_reading how = {.struct_size = sizeof how, .watch = go_on, .self = t};
    if (r->path) return sbps_table_read(r->path, t->options, &how, &t->table, err);
    const column_set *own = &r->columns;
    if (own->has_sparse)
        return sbps_table_from_sparse(own->rows, &own->sparse, own->count, own->column,
                                      t->options, go_on, t, &t->table, err);
    return sbps_table_from_columns(own->rows, own->count, own->column, t->options, go_on, t,
                                   &t->table, err);
}

/* An interrupt on the way ends it all, also where it came too late to stop the set-up. */
static sbps_status make_run(task *t, sbps_error *err)
{
    bool finished;
    t->setting_up = true;
    sbps_status status = do_apart(t, set_up, &finished, err);
    t->setting_up = false;
    return status == SBPS_OK && t->interrupted ? SBPS_BAD_DATA : status;
}

static sbps_status sample(task *t, const request *r, char **described, sbps_error *err)
{
    sbps_status status = set_options(t, &r->set, err);
    if (status == SBPS_OK && r->model)
        status = sbps_options_set_model(t->options, &r->model->call, err);
    if (status == SBPS_OK) status = open_table(t, r, err);
    if (status == SBPS_OK) status = make_run(t, err);
    if (status == SBPS_OK) status = sbps_run_describe(t->run, described, err);
    if (status != SBPS_OK) return status;
    if (t->tells) REprintf("%s", *described);
    status = fly_all(t, err);
    return status == SBPS_OK ? keep(t, r->command, r->output, r->kept, err) : status;
}

/* data: the name of a file, a list of columns or a matrix; output: the .nc for the draws and, optionally, the output file
 * that the user names; model: NULL, or a function of R. */
SEXP r_sample(SEXP data, SEXP names, SEXP options, SEXP command, SEXP output, SEXP progress,
              SEXP model)
{
    sbps_error err = {0};
    char *described = NULL;
    want_vector(output, STRSXP, 1, "output");
    want_vector(options, STRSXP, 0, "options");
    task t = {.tells = Rf_asLogical(progress) == TRUE,
              .state.struct_size = sizeof t.state,
              .alone = !Rf_isNull(model)};
    own_model own = {.heed = heed, .self = &t};
    request r = {.path = only_text(data),
                 .set = settings_of(options),
                 .command = only_text(command),
                 .output = utf8(STRING_ELT(output, 0)),
                 .kept = Rf_xlength(output) > 1 ? utf8(STRING_ELT(output, 1)) : NULL};
    if (!r.path) r.columns = columns_of(data, names);
    if (t.alone) {
        read_model(model, &own);
        r.model = &own;
    }
    sbps_status status = sample(&t, &r, &described, &err);
    SEXP out = PROTECT(status == SBPS_OK ? told_by(&t, described) : failed(&t, &err));
    sbps_free(described);
    end_task(&t);
    UNPROTECT(1);
    return out;
}
