/* Calls for memory and of files fail, one after another. The functions of store then report the
 * failure or return a correct result; a file that is replaced is the old or the new one.
 *
 * The linker replaces every CALL named here by __wrap_CALL: see tests/CMakeLists.txt. */
#include "check.h"

#include "store/sample.h"

#include "store/checkpoint.h"
#include "store/path_files.h"

#include "path/path.h"
#include "store/result.h"

#include <stdarg.h>

#define TRIES 100 /* at most, spread evenly over the calls of a task */

static size_t calls, fail_at; /* the fail_at-th call fails, from 1; 0: none */

static bool refused(int error)
{
    if (++calls != fail_at) return false;
    errno = error;
    return true;
}

#define WRAP(type, name, parameters, arguments, error, outcome)                                \
    type __real_##name parameters;                                                             \
    type __wrap_##name parameters;                                                             \
    type __wrap_##name parameters                                                              \
    {                                                                                          \
        return refused(error) ? outcome : __real_##name arguments;                             \
    }

WRAP(void *, malloc, (size_t size), (size), ENOMEM, NULL)
WRAP(void *, calloc, (size_t count, size_t size), (count, size), ENOMEM, NULL)
WRAP(void *, aligned_alloc, (size_t to, size_t size), (to, size), ENOMEM, NULL)
WRAP(char *, strdup, (const char *text), (text), ENOMEM, NULL)
WRAP(char *, realpath, (const char *path, char *buffer), (path, buffer), ENOMEM, NULL)
WRAP(FILE *, fopen, (const char *path, const char *mode), (path, mode), EMFILE, NULL)
WRAP(FILE *, fdopen, (int descriptor, const char *mode), (descriptor, mode), ENOMEM, NULL)
WRAP(void *, realloc, (void *block, size_t size), (block, size), ENOMEM, NULL)
WRAP(int, fstat, (int descriptor, struct stat *out), (descriptor, out), EIO, -1)
WRAP(int, fsync, (int descriptor), (descriptor), EIO, -1)
WRAP(int, fchmod, (int descriptor, mode_t mode), (descriptor, mode), EPERM, -1)
WRAP(int, ftruncate, (int descriptor, off_t length), (descriptor, length), EIO, -1)
WRAP(int, rename, (const char *old, const char *new), (old, new), EACCES, -1)
WRAP(int, fflush, (FILE * stream), (stream), ENOSPC, EOF)
WRAP(int, fseeko, (FILE * stream, off_t at, int from), (stream, at, from), EIO, -1)
WRAP(off_t, ftello, (FILE * stream), (stream), EIO, -1)

int __real_fclose(FILE *stream);
int __wrap_fclose(FILE *stream);
int __wrap_fclose(FILE *stream)
{
    int rc = __real_fclose(stream);
    return refused(ENOSPC) ? EOF : rc;
}

int __real_open(const char *path, int flags, mode_t mode);
int __wrap_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...)
{
    va_list rest;
    va_start(rest, flags);
    mode_t mode = flags & O_CREAT ? va_arg(rest, mode_t) : 0;
    va_end(rest);
    return refused(EMFILE) ? -1 : __real_open(path, flags, mode);
}

/* ---- tasks of store, in a folder ---- */

static result *sample;
static char block[] = "the state of a chain", read_block[sizeof block];
static const checkpoint_block kept = {"chain", block, sizeof block},
                              wanted = {"chain", read_block, sizeof block};
static bool wrong; /* it was read and differs from what was written */
static uint64_t bytes_before;

static sbps_status write_csv(sbps_error *err)
{
    return result_write_csv(sample, sample_path("out"), err);
}

static sbps_status write_stan(sbps_error *err)
{
    return result_write_stan(sample, sample_path("run.csv"), err);
}

static sbps_status write_run(sbps_error *err)
{
    return result_write_netcdf(sample, sample_path("out"), err);
}

static sbps_status read_run(sbps_error *err)
{
    result *back;
    sbps_status status = result_read_netcdf(sample_path("run.nc"), &back, err);
    wrong = status == SBPS_OK ? !same_result(sample, back) : back != NULL;
    result_destroy(back);
    return status;
}

static sbps_status write_checkpoint(sbps_error *err)
{
    return checkpoint_write(sample_path("out"), &kept, 1, err);
}

static sbps_status read_checkpoint(sbps_error *err)
{
    memset(read_block, 0, sizeof read_block);
    sbps_status status = checkpoint_read(sample_path("halfway"), &wanted, 1, err);
    wrong = strcmp(read_block, status == SBPS_OK ? block : "") != 0;
    return status;
}

static sbps_status peek_checkpoint(sbps_error *err)
{
    char *bytes;
    size_t size;
    sbps_status status = checkpoint_peek(sample_path("halfway"), "chain", &bytes, &size, err);
    wrong = status == SBPS_OK ? strcmp(bytes, block) != 0 : bytes || size;
    free(bytes);
    return status;
}

static sbps_status digest_file(sbps_error *err)
{
    uint64_t digest;
    return checkpoint_digest(sample_path("halfway"), &digest, err);
}

static sbps_status add_events(uint64_t resume_at, sbps_error *err)
{
    static const char *const names[] = {"x", "a,b"};
    const double records[] = {0.0, EVENT_START, 0.0, 1.0, 2.0, 3.0, 4.0,
                              1.5, EVENT_STEP,  9.0, NAN, 2.0, 3.0, -INFINITY};
    skeleton_file *file;
    uint64_t bytes;
    sbps_status status = skeleton_open(sample_path("out"), names, 2, resume_at, &file, err);
    if (status == SBPS_OK) status = skeleton_append(file, 0, 2, records, err);
    if (status == SBPS_OK) status = skeleton_sync(file, &bytes, err);
    wrong = status == SBPS_OK && bytes <= resume_at;
    skeleton_close(file);
    return status;
}

static sbps_status write_skeleton(sbps_error *err)
{
    return add_events(0, err);
}

static sbps_status resume_skeleton(sbps_error *err)
{
    return add_events(bytes_before, err);
}

static sbps_status write_trace(sbps_error *err)
{
    const trace_record observations[] = {
        {1.0, {.kind = OBSERVATION_START, .mean = NAN}},
        {2.0, {.kind = OBSERVATION_PROPOSAL, .bounced = true}}};
    append_file file;
    uint64_t bytes;
    sbps_status status = trace_open(sample_path("out"), 0, &file, err);
    if (status != SBPS_OK) return status;
    status = trace_append(&file, 2, observations, err);
    if (status == SBPS_OK) status = append_file_sync(&file, &bytes, err);
    append_file_close(&file);
    return status;
}

/* ---- one failure after another ---- */

typedef struct {
    char *bytes;
    size_t size;
} content;

static content content_of(const char *name)
{
    content c;
    c.bytes = sample_bytes(sample_path(name), &c.size);
    return c;
}

static bool is_same(content a, content b)
{
    return a.size == b.size && !memcmp(a.bytes, b.bytes, a.size);
}

/* The task writes the file `name`, which exists already if `before`. */
static void fail_each_call(sbps_status (*task)(sbps_error *err), const char *name,
                           content before, bool atomic)
{
    sample_store(sample_path(name), before.bytes, before.size);
    calls = 0;
    REQUIRE(task(NULL) == SBPS_OK && !wrong);
    size_t all = calls, files = sample_files(), stopped = 0;
    content want = content_of(name);
    for (size_t k = 1; k <= all; k += all / TRIES + 1) {
        sbps_error err = {0};
        sample_store(sample_path(name), before.bytes, before.size);
        calls = 0, fail_at = k, wrong = false;
        sbps_status status = task(&err);
        fail_at = 0;
        content got = content_of(name);
        bool whole = is_same(got, want), old = is_same(got, before);
        bool fine =
            !wrong && (status == SBPS_OK ? whole : err.text[0] && (whole || old || !atomic));
        if (!fine) printf("call %zu of %zu of %s: %d %s\n", k, all, name, status, err.text);
        CHECK(fine);
        CHECK(sample_files() == files);
        stopped += status != SBPS_OK;
        free(got.bytes);
    }
    CHECK(stopped > 0);
    free(want.bytes);
}

static content as_it_was(void)
{
    static char text[] = "as it was\n";
    return (content){text, strlen(text)};
}

static void begin(void)
{
    sample = sample_result(1, 3, 2);
    CHECK(result_write_netcdf(sample, sample_path("run.nc"), NULL) == SBPS_OK);
    CHECK(checkpoint_write(sample_path("halfway"), &kept, 1, NULL) == SBPS_OK);
}

static void end(void)
{
    static const char *const names[] = {"run.nc", "halfway", "out", "run_1.csv"};
    result_destroy(sample);
    for (size_t i = 0; i < 4; i++) unlink(sample_path(names[i]));
}

TEST(replaced_files_are_complete_or_absent)
{
    begin();
    fail_each_call(write_csv, "out", as_it_was(), true);
    fail_each_call(write_checkpoint, "out", as_it_was(), true);
    fail_each_call(write_run, "out", as_it_was(), true);
    fail_each_call(write_stan, "run_1.csv", as_it_was(), true);
    end();
}

TEST(failures_to_read_are_reported)
{
    begin();
    fail_each_call(read_run, "out", as_it_was(), true);
    fail_each_call(read_checkpoint, "out", as_it_was(), true);
    fail_each_call(peek_checkpoint, "out", as_it_was(), true);
    fail_each_call(digest_file, "out", as_it_was(), true);
    end();
}

TEST(failures_to_append_are_reported)
{
    begin();
    fail_each_call(write_skeleton, "out", as_it_was(), false);
    fail_each_call(write_trace, "out", as_it_was(), false);
    CHECK(write_skeleton(NULL) == SBPS_OK);
    content path = content_of("out");
    bytes_before = path.size;
    fail_each_call(resume_skeleton, "out", path, false);
    free(path.bytes);
    end();
}

TEST(a_result_too_large_to_count_is_refused)
{
    result *r = (result *)block; /* must become NULL */
    sbps_error err = {0};
    CHECK(result_create(SIZE_MAX / 2, 3, 1, &r, &err) == SBPS_NO_MEM && r == NULL);
    CHECK(strstr(err.text, "do not fit in memory") != NULL);
    CHECK(result_create(2, SIZE_MAX / 8, 8, &r, &err) == SBPS_NO_MEM && r == NULL);
    result_destroy(NULL);
}

/* Results that differ in one part each. */
TEST(results_that_differ_anywhere_are_not_equal)
{
    result *a = sample_result(2, 3, 2), *b = sample_result(2, 3, 2);
    CHECK(result_same(a, b));
    double *numbers[] = {&b->w[11], &b->sd[1], &b->prior_sd[0], &b->potential[5], &b->info.eta};
    for (size_t i = 0; i < 5; i++) {
        double was = *numbers[i];
        *numbers[i] = 12345.0;
        CHECK(!result_same(a, b));
        memcpy(numbers[i], &was, sizeof was);
    }
    char *texts[] = {b->names[1], b->prior[1], b->info.sampler, b->options[0].name,
                     b->options[2].value};
    for (size_t i = 0; i < 5; i++) {
        texts[i][0] ^= 1;
        CHECK(!result_same(a, b));
        texts[i][0] ^= 1;
    }
    b->info.unsettled = !b->info.unsettled;
    CHECK(!result_same(a, b));
    b->info.unsettled = !b->info.unsettled;
    b->option_count--;
    CHECK(!result_same(a, b));
    b->option_count++;
    result *sizes[] = {sample_result(1, 3, 2), sample_result(2, 2, 2), sample_result(2, 3, 1)};
    for (size_t i = 0; i < 3; i++) {
        CHECK(!result_same(a, sizes[i]));
        result_destroy(sizes[i]);
    }
    CHECK(result_same(a, b));
    result_destroy(a);
    result_destroy(b);
}

CHECK_MAIN
