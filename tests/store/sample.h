/* A result with unusual values, a temporary folder, and files as bytes. */
#ifndef TESTS_STORE_SAMPLE_H
#define TESTS_STORE_SAMPLE_H

#include "core/memory.h"
#include "store/layout.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define UNUSED __attribute__((unused))

static char sample_folder[256];

UNUSED static void sample_clean(void)
{
    DIR *folder = opendir(sample_folder);
    if (!folder) return;
    for (struct dirent *e; (e = readdir(folder));) {
        char path[600];
        snprintf(path, sizeof path, "%s/%s", sample_folder, e->d_name);
        if (e->d_name[0] != '.') unlink(path);
    }
    closedir(folder);
    rmdir(sample_folder);
}

/* A path in a folder that is removed at exit; valid until the eighth call after. */
UNUSED static const char *sample_path(const char *name)
{
    static char paths[8][600];
    static int count;
    if (!sample_folder[0]) {
        const char *base = getenv("TMPDIR");
        snprintf(sample_folder, sizeof sample_folder, "%s/sbps-store-XXXXXX",
                 base ? base : "/tmp");
        if (!mkdtemp(sample_folder)) abort();
        atexit(sample_clean);
    }
    char *path = paths[count++ % 8];
    snprintf(path, sizeof paths[0], "%s/%s", sample_folder, name);
    return path;
}

UNUSED static size_t sample_files(void)
{
    size_t count = 0;
    DIR *folder = opendir(sample_folder);
    if (!folder) return 0;
    for (struct dirent *e; (e = readdir(folder));) count += e->d_name[0] != '.';
    closedir(folder);
    return count;
}

/* The bytes of a file, with a zero after the last; NULL if there is no such file. */
UNUSED static char *sample_bytes(const char *path, size_t *size)
{
    struct stat status;
    *size = 0;
    FILE *stream = fopen(path, "rb");
    if (!stream || fstat(fileno(stream), &status) != 0) return NULL;
    char *bytes = calloc((size_t)status.st_size + 1, 1);
    *size = fread(bytes, 1, (size_t)status.st_size, stream);
    fclose(stream);
    return bytes;
}

UNUSED static void sample_store(const char *path, const char *bytes, size_t size)
{
    FILE *stream = fopen(path, "wb");
    if (!stream || fwrite(bytes, 1, size, stream) != size || fclose(stream) != 0) abort();
}

/* Reproducible bits: splitmix64. */
UNUSED static uint64_t sample_word(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* Some doubles have random bits, so that NaN payloads, subnormals and -0 occur. */
UNUSED static void sample_fill(double *out, size_t count, uint64_t *state)
{
    static const double odd[] = {-0.0, INFINITY, -INFINITY, 5e-324, DBL_MAX, 0.1};
    for (size_t i = 0; i < count; i++) {
        uint64_t word = sample_word(state);
        if (i % 7 == 3)
            memcpy(&out[i], &word, sizeof word);
        else if (i % 7 == 5)
            out[i] = odd[word % 6];
        else
            out[i] = (double)(int64_t)word * 0x1p-60;
    }
}

UNUSED static result *sample_result(size_t chains, size_t draws, size_t dim)
{
    static const char *const odd[] = {"intercept",  "a,b", "say \"x\"",  "colour=red",
                                      "\xc3\xa4ge", "x.1", "colour red", "lp__"};
    uint64_t state = chains * 1000003 + draws * 1009 + dim;
    result *r;
    if (result_create(chains, draws, dim, &r, NULL) != SBPS_OK) abort();
    for (size_t j = 0; j < dim; j++) {
        char name[32];
        snprintf(name, sizeof name, "x%zu", j);
        r->names[j] = copy_text(j < 8 ? odd[j] : name);
    }
    sample_fill(r->w, chains * draws * dim, &state);
    for (const array_field *f = layout_path; f->name; f++)
        sample_fill(*array_slot(r, f), dim, &state);
    for (const array_field *f = layout_model; f->name; f++)
        sample_fill(*array_slot(r, f), dim, &state);
    for (const label_field *f = layout_labels; f->name; f++)
        for (size_t j = 0; j < dim; j++)
            label_of(r, f)[j] = copy_text(j % 3 ? r->names[j] : "");
    for (const array_field *f = layout_stats; f->name; f++)
        sample_fill(*array_slot(r, f), chains * draws, &state);
    for (const info_field *f = layout_texts; f->name; f++)
        *info_text(&r->info, f) = copy_text(f->name);
    free(r->info.metric);
    r->info.metric = NULL; /* unknown */
    r->info.target[0] = '\0';
    for (const info_field *f = layout_numbers; f->name; f++)
        sample_fill(info_number(&r->info, f), 1, &state);
    r->info.seed = 7;
    r->info.bias_estimate = NAN;
    r->info.seconds_warmup = 1.5;
    r->info.seconds_sampling = 2.25;
    r->info.paper = true;
    static const char *const options[][2] = {
        {"batch-size", "auto"}, {"features", ""}, {"prior", "normal(0, 2.5)"}};
    r->options = calloc(3, sizeof *r->options);
    for (r->option_count = 0; r->option_count < 3; r->option_count++) {
        r->options[r->option_count].name = copy_text(options[r->option_count][0]);
        r->options[r->option_count].value = copy_text(options[r->option_count][1]);
    }
    return r;
}

UNUSED static bool same_text(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

static bool same_bits(const double *a, const double *b, size_t count)
{
    return count == 0 || memcmp(a, b, count * sizeof *a) == 0;
}

UNUSED static bool same_info(const result_info *a, const result_info *b)
{
    result_info x = *a, y = *b;
    for (const info_field *f = layout_texts; f->name; f++)
        if (!same_text(*info_text(&x, f), *info_text(&y, f))) return false;
    for (const info_field *f = layout_numbers; f->name; f++)
        if (!same_bits(info_number(&x, f), info_number(&y, f), 1)) return false;
    for (const info_field *f = layout_switches; f->name; f++)
        if (*info_switch(&x, f) != *info_switch(&y, f)) return false;
    return true;
}

UNUSED static bool same_arrays(const result *a, const result *b)
{
    if (a->chains != b->chains || a->draws != b->draws || a->dim != b->dim) return false;
    size_t draws = a->chains * a->draws;
    bool same = same_bits(a->w, b->w, draws * a->dim);
    for (const array_field *f = layout_path; f->name; f++)
        same = same && same_bits(array_of(a, f), array_of(b, f), a->dim);
    for (const array_field *f = layout_model; f->name; f++)
        same = same && same_bits(array_of(a, f), array_of(b, f), a->dim);
    for (const array_field *f = layout_stats; f->name; f++)
        same = same && same_bits(array_of(a, f), array_of(b, f), draws);
    return same;
}

UNUSED static bool same_result(const result *a, const result *b)
{
    bool same = same_arrays(a, b) && same_info(&a->info, &b->info);
    for (size_t j = 0; same && j < a->dim; j++) same = same_text(a->names[j], b->names[j]);
    for (const label_field *f = layout_labels; f->name; f++)
        for (size_t j = 0; same && j < a->dim; j++)
            same = same_text(label_of(a, f)[j], label_of(b, f)[j]);
    same = same && a->option_count == b->option_count;
    for (size_t i = 0; same && i < a->option_count; i++)
        same = same_text(a->options[i].name, b->options[i].name) &&
               same_text(a->options[i].value, b->options[i].value);
    return same;
}

/* Runs `body` in a process whose files are limited to `limit` bytes, as on a full disk. Returns
 * the exit status, or -1 after a crash. */
UNUSED static int with_small_disk(rlim_t limit, int (*body)(void))
{
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        signal(SIGXFSZ, SIG_IGN);
        setrlimit(RLIMIT_FSIZE, &(struct rlimit){limit, limit});
        _exit(body());
    }
    int status;
    if (child < 0 || waitpid(child, &status, 0) != child) return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

#endif
