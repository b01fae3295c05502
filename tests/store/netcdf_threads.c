/* Run files used by several threads at once: every read returns what was written, nothing is
 * printed, and neither fork() nor a cancelled thread leaves the lock taken. */
#include "check.h"

#include "sbps.h"
#include "store/forged_netcdf.h"
#include "store/netcdf_lock.h"
#include "store/prediction_file.h"
#include "store/result.h"

#include <pthread.h>
#include <stdatomic.h>

#define THREADS 4
#define REPEATS 8

typedef struct {
    size_t number; /* of the thread */
    const char *path;
    const result *want;
    atomic_bool *done;
    bool right; /* set by the thread */
} worker;

/* Runs `body` in `count` threads and checks that all succeeded. */
static void run_threads(void *(*body)(void *), const worker *like, size_t count)
{
    pthread_t thread[THREADS];
    worker w[THREADS];
    for (size_t i = 0; i < count; i++) {
        w[i] = *like;
        w[i].number = i;
        w[i].right = false;
        REQUIRE(pthread_create(&thread[i], NULL, body, &w[i]) == 0);
    }
    for (size_t i = 0; i < count; i++) {
        pthread_join(thread[i], NULL);
        CHECK(w[i].right);
    }
}

static void *read_often(void *self)
{
    worker *w = self;
    w->right = true;
    for (int repeat = 0; repeat < REPEATS; repeat++) {
        sbps_result *back = NULL;
        bool read = sbps_result_read(w->path, &back, NULL) == SBPS_OK;
        w->right = read && same_result(w->want, back) && w->right;
        sbps_result_destroy(back);
    }
    return NULL;
}

TEST(threads_read_one_file)
{
    const char *path = sample_path("read.nc");
    result *r = sample_result(2, 40, 9);
    REQUIRE(result_write_netcdf(r, path, NULL) == SBPS_OK);
    run_threads(read_often, &(worker){.path = path, .want = r}, THREADS);
    result_destroy(r);
    unlink(path);
}

/* Predictions, too: a file that is open between calls. */
static bool write_predictions(const char *name)
{
    const prediction_shape shape = {.draws = 3, .kind = "mean", .run = "run.nc"};
    const double value[3] = {1.0, 2.0, 3.0};
    prediction_file *file;
    bool whole = prediction_file_open(name, &shape, &file, NULL) == SBPS_OK;
    for (size_t row = 1; whole && row < 5; row++)
        whole = prediction_file_put(file, row, value, NULL) == SBPS_OK;
    return whole && prediction_file_commit(file, NULL) == SBPS_OK;
}

static void *write_often(void *self)
{
    worker *w = self;
    char path[700];
    result *r = sample_result(2, 30 + w->number, 5);
    w->right = true;
    for (int repeat = 0; repeat < REPEATS; repeat++) {
        result *back = NULL;
        snprintf(path, sizeof path, "%s.%zu.nc", w->path, w->number);
        bool read = result_write_netcdf(r, path, NULL) == SBPS_OK &&
                    result_read_netcdf(path, &back, NULL) == SBPS_OK;
        w->right = read && same_result(r, back) && w->right;
        result_destroy(back);
        w->right = write_predictions(path) && w->right;
        unlink(path);
    }
    result_destroy(r);
    return NULL;
}

TEST(threads_write_and_read_files_of_their_own)
{
    run_threads(write_often, &(worker){.path = sample_path("own")}, THREADS);
    CHECK(sample_files() == 0);
}

/* ---- whole runs ---- */

static sbps_result *fit(uint64_t seed)
{
    double x[200], y[200];
    char text[32];
    sbps_options *options = NULL;
    sbps_table *table = NULL;
    sbps_run *run = NULL;
    sbps_result *out = NULL;
    bool finished = false;
    for (size_t i = 0; i < 200; i++) {
        x[i] = sin((double)i);
        y[i] = sin(17.0 * (double)i * (double)i) < 0.5 * x[i];
    }
    const sbps_column columns[] = {
        {.struct_size = sizeof(sbps_column), .name = "x", .values = x},
        {.struct_size = sizeof(sbps_column), .name = "y", .values = y}};
    snprintf(text, sizeof text, "%llu", (unsigned long long)seed);
    const char *set[][2] = {{"target", "y"}, {"model", "logistic"}, {"ess", "20"},
                            {"draws", "50"}, {"threads", "1"},      {"seed", text}};
    sbps_status status = sbps_options_create(&options, NULL);
    for (size_t k = 0; status == SBPS_OK && k < sizeof set / sizeof *set; k++)
        status = sbps_options_set(options, set[k][0], set[k][1], NULL);
    if (status == SBPS_OK)
        status = sbps_table_from_columns(200, 2, columns, options, NULL, NULL, &table, NULL);
    if (status == SBPS_OK) status = sbps_run_create(table, options, &run, NULL);
    while (status == SBPS_OK && !finished) status = sbps_run_advance(run, &finished, NULL);
    if (status == SBPS_OK) status = sbps_result_from_run(run, &out, NULL);
    sbps_run_destroy(run);
    sbps_table_destroy(table);
    sbps_options_destroy(options);
    return out;
}

static void *fit_write_and_read(void *self)
{
    worker *w = self;
    char path[700];
    sbps_result *made = fit(w->number), *back = NULL;
    snprintf(path, sizeof path, "%s.%zu.nc", w->path, w->number);
    w->right = made && sbps_result_write(made, path, NULL) == SBPS_OK &&
               sbps_result_read(path, &back, NULL) == SBPS_OK && result_same(made, back);
    sbps_result_destroy(made);
    sbps_result_destroy(back);
    unlink(path);
    return NULL;
}

TEST(threads_fit_write_and_read_back)
{
    for (int repeat = 0; repeat < 3; repeat++)
        run_threads(fit_write_and_read, &(worker){.path = sample_path("fit")}, 3);
}

static void *query_often(void *self)
{
    worker *w = self;
    char *text = NULL;
    size_t findings;
    sbps_parameter p = {.struct_size = sizeof p};
    w->right = sbps_result_summary(w->want, SBPS_JSON, &text, NULL) == SBPS_OK;
    sbps_free(text);
    w->right = w->right && sbps_result_diagnose(w->want, &text, &findings, NULL) == SBPS_OK;
    sbps_free(text);
    w->right = w->right && sbps_result_parameter(w->want, 0, &p, NULL) == SBPS_OK;
    return NULL;
}

/* As documented in sbps.h. */
TEST(threads_use_one_result)
{
    sbps_result *r = fit(1);
    REQUIRE(r);
    run_threads(query_often, &(worker){.want = r}, THREADS);
    sbps_result_destroy(r);
}

/* ---- the library never prints ---- */

static void *read_wrong(void *self)
{
    worker *w = self;
    sbps_result *back = NULL;
    w->right = true;
    for (int repeat = 0; repeat < 2; repeat++) {
        sbps_error err = {0};
        w->right = sbps_result_read(w->path, &back, &err) == SBPS_BAD_FILE &&
                   strstr(err.text, "not a run file of sbps") && w->right;
    }
    return NULL;
}

/* A file whose checksum is good and whose contents HDF5 refuses. */
static void make_damaged(const char *path)
{
    size_t size;
    result *r = sample_result(2, 40, 5);
    REQUIRE(result_write_netcdf(r, path, NULL) == SBPS_OK);
    char *bytes = sample_bytes(path, &size);
    size -= TRAILER_SIZE;
    for (size_t at = 300; at < size; at++) bytes[at] = (char)(bytes[at] ^ 0x5a);
    sample_store(path, bytes, size);
    seal(path);
    free(bytes);
    result_destroy(r);
}

TEST(a_damaged_file_prints_nothing_in_any_thread)
{
    const char *path = sample_path("damaged.nc"), *printed = sample_path("printed");
    size_t size = 1;
    make_damaged(path);
    fflush(stderr);
    int saved = dup(2), file = open(printed, O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, 0600);
    REQUIRE(saved >= 0 && file >= 0 && dup2(file, 2) == 2);
    run_threads(read_wrong, &(worker){.path = path}, THREADS);
    fflush(stderr);
    dup2(saved, 2);
    close(saved);
    close(file);
    char *text = sample_bytes(printed, &size);
    CHECK(size == 0);
    if (size) printf("%.300s\n", text);
    free(text);
    unlink(path);
    unlink(printed);
}

/* ---- the lock ---- */

static void *read_until_done(void *self)
{
    worker *w = self;
    w->right = true;
    while (!atomic_load(w->done)) {
        result *back = NULL;
        w->right = result_read_netcdf(w->path, &back, NULL) == SBPS_OK && w->right;
        result_destroy(back);
    }
    return NULL;
}

static bool child_reads(const char *path)
{
    int code = 0;
    pid_t child = fork();
    if (child == 0) {
        result *back = NULL;
        alarm(600); /* a lock that is never released ends the child, not the test */
        _exit(result_read_netcdf(path, &back, NULL) == SBPS_OK ? 0 : 1);
    }
    while (child > 0 && waitpid(child, &code, 0) < 0 && errno == EINTR) continue;
    return child > 0 && WIFEXITED(code) && WEXITSTATUS(code) == 0;
}

TEST(a_forked_child_can_read_while_threads_read)
{
    const char *path = sample_path("fork.nc");
    atomic_bool done = false;
    worker w = {.path = path, .done = &done};
    pthread_t thread;
    result *r = sample_result(2, 40, 5);
    REQUIRE(result_write_netcdf(r, path, NULL) == SBPS_OK);
    REQUIRE(pthread_create(&thread, NULL, read_until_done, &w) == 0);
    for (int repeat = 0; repeat < 20; repeat++) CHECK(child_reads(path));
    atomic_store(&done, true);
    pthread_join(thread, NULL);
    CHECK(w.right);
    result_destroy(r);
    unlink(path);
}

TEST(a_thread_is_not_cancelled_while_it_holds_the_lock)
{
    int before, inside, after;
    pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &before);
    int state = netcdf_lock();
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &inside);
    netcdf_unlock(state);
    pthread_setcancelstate(before, &after);
    CHECK(inside == PTHREAD_CANCEL_DISABLE && after == PTHREAD_CANCEL_ENABLE);
}

CHECK_MAIN
