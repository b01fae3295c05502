/* Blocks, arenas and memory limits. Sizes that overflow saturate, so that the allocation
 * fails. */
#include "core/memory.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

/* Large blocks hold tables. On pages of 2 MiB a random window costs one address translation
 * instead of several, and hardware prefetching does not stop every 4 KiB. */
#define HUGE_PAGE ((size_t)2 << 20)
#define LARGE     (8 * HUGE_PAGE)

/* Rounds up to whole cache lines; 0 if the result does not fit in a size_t. */
static size_t whole_lines(size_t bytes)
{
    if (bytes > SIZE_MAX - (CACHE_LINE - 1)) return 0;
    return (bytes + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
}

/* Bytes of `count` doubles, SIZE_MAX on overflow. */
static size_t double_bytes(size_t count)
{
    return count > SIZE_MAX / sizeof(double) ? SIZE_MAX : count * sizeof(double);
}

/* Allocates a block aligned to a cache line, or to huge pages if `large`; NULL: no memory. */
static void *make_block(size_t size, bool large)
{
    if (size == 0 || size > PTRDIFF_MAX) return NULL;
    if (large) size = (size + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
    void *block = aligned_alloc(large ? HUGE_PAGE : CACHE_LINE, size);
    if (block && large) madvise(block, size, MADV_HUGEPAGE);
    return block;
}

void *aligned_block(size_t bytes)
{
    size_t size = whole_lines(bytes ? bytes : 1); /* an empty block is still a block */
    return make_block(size, size >= HUGE_PAGE);
}

void *aligned_zeroed(size_t bytes)
{
    size_t size = whole_lines(bytes ? bytes : 1);
    void *block = make_block(size, size >= LARGE);
    return block ? memset(block, 0, size) : NULL;
}

double *unset_doubles(size_t count)
{
    return aligned_block(double_bytes(count));
}

double *new_doubles(size_t count)
{
    return aligned_zeroed(double_bytes(count));
}

char *copy_text(const char *text)
{
    return text ? strdup(text) : NULL;
}

void free_texts(char **texts, size_t count)
{
    for (size_t i = 0; texts && i < count; i++) free(texts[i]);
    free(texts);
}

void *arena_take(arena *memory, size_t bytes)
{
    size_t start = memory->used, size = whole_lines(bytes);
    if ((bytes && !size) || size > SIZE_MAX - start) {
        memory->used = SIZE_MAX;
        return NULL;
    }
    memory->used = start + size;
    if (!memory->base) return NULL;
    assert(memory->used <= memory->size); /* the second pass carves what the first counted */
    return memory->base + start;
}

double *arena_doubles(arena *memory, size_t count)
{
    return arena_take(memory, double_bytes(count));
}

/* ---- memory limits ----
 *
 * The machine's memory, the limits of the process's control groups, which containers and batch
 * systems set, and those of setrlimit. Linux kills a process that exceeds the limit of its
 * control group without a message; large requests are therefore compared with the limit first.
 *
 *   /proc/self/cgroup      "4:memory:/batch/job7" (version 1) or "0::/batch/job7" (version 2)
 *   /proc/self/mountinfo   where the hierarchy is mounted, and which part of it
 *   memory.limit_in_bytes (1), memory.max (2)   of the group and of each group above it
 *
 * A file that is missing or contains "max" sets no limit. See cgroups(7). */

#define PATH_SIZE 4096

typedef struct {
    const char *type, *option; /* of the mount: file system type, required option or NULL */
    const char *file;          /* that contains the limit */
} hierarchy;

static const hierarchy version_1 = {"cgroup", "memory", "memory.limit_in_bytes"};
static const hierarchy version_2 = {"cgroup2", NULL, "memory.max"};

/* True if `item` is in a comma-separated list. */
static bool has_item(const char *list, const char *item)
{
    size_t length = strlen(item);
    for (const char *at = list; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
        if (strcspn(at, ",\n") == length && !strncmp(at, item, length)) return true;
    return false;
}

/* Reads a limit in bytes; INFINITY if the file sets none. */
static double read_limit(const char *path)
{
    double bytes = INFINITY;
    FILE *file = fopen(path, "re");
    if (!file) return INFINITY;
    unsigned long long value;
    if (fscanf(file, "%llu", &value) == 1 && value > 0) bytes = (double)value;
    fclose(file);
    return bytes;
}

/* The smallest limit of mount/group and of the groups above it, up to the mount itself. */
static double limit_along_path(const char *mount, const char *group, const char *file)
{
    double lowest = INFINITY;
    char folder[PATH_SIZE], path[PATH_SIZE + 32];
    size_t top = strlen(mount);
    int length = snprintf(folder, sizeof folder, "%s%s", mount, group);
    if (length < 0 || (size_t)length >= sizeof folder) return INFINITY;
    for (;;) {
        snprintf(path, sizeof path, "%s/%s", folder, file);
        lowest = fmin(lowest, read_limit(path));
        char *slash = strrchr(folder, '/');
        if (strlen(folder) <= top || !slash || slash < folder + top) return lowest;
        *slash = '\0';
    }
}

/* The part of the group's path below the mount. `part` is the group at the top of the mount:
 * "/", or in a container perhaps its own group. "" (the mount itself) for paths outside it. */
static const char *below_mount(const char *group, const char *part)
{
    size_t length = strcmp(part, "/") ? strlen(part) : 0;
    bool inside = !strncmp(group, part, length) && (group[length] == '/' || !group[length]);
    return inside && !strstr(group, "/..") && strcmp(group, "/") ? group + length : "";
}

/* The smallest limit of a group over all mounts of its hierarchy. A line of mountinfo is
 * ID PARENT DEVICE PART MOUNT OPTIONS [FIELDS...] - TYPE SOURCE OPTIONS */
static double group_limit(const char *root, const hierarchy *h, const char *group)
{
    double lowest = INFINITY;
    char path[PATH_SIZE], part[1024], mount[1024], type[64], options[1024], *line = NULL;
    size_t capacity = 0;
    snprintf(path, sizeof path, "%s/proc/self/mountinfo", root);
    FILE *mounts = fopen(path, "re");
    if (!mounts) return INFINITY;
    while (getline(&line, &capacity, mounts) > 0) {
        const char *tail = strstr(line, " - ");
        if (!tail || sscanf(line, "%*s %*s %*s %1023s %1023s", part, mount) != 2 ||
            sscanf(tail + 3, "%63s %*s %1023s", type, options) != 2)
            continue;
        if (strcmp(type, h->type) || (h->option && !has_item(options, h->option))) continue;
        snprintf(path, sizeof path, "%s%s", root, strcmp(mount, "/") ? mount : "");
        lowest = fmin(lowest, limit_along_path(path, below_mount(group, part), h->file));
    }
    free(line);
    fclose(mounts);
    return lowest;
}

double memory_limit(const char *root)
{
    double lowest = INFINITY;
    char path[PATH_SIZE], *line = NULL;
    size_t capacity = 0;
    snprintf(path, sizeof path, "%s/proc/self/cgroup", root);
    FILE *groups = fopen(path, "re");
    if (!groups) return INFINITY;
    while (getline(&line, &capacity, groups) > 0) {
        line[strcspn(line, "\n")] = '\0';
        char *kinds = strchr(line, ':'), *group = kinds ? strchr(kinds + 1, ':') : NULL;
        if (!group || group[1] != '/') continue;
        *group++ = '\0';
        if (!kinds[1])
            lowest = fmin(lowest, group_limit(root, &version_2, group));
        else if (has_item(kinds + 1, "memory"))
            lowest = fmin(lowest, group_limit(root, &version_1, group));
    }
    free(line);
    fclose(groups);
    return lowest;
}

/* The soft limit that getrlimit found; `failed` is its return value. INFINITY: no limit. */
static double soft_limit(int failed, const struct rlimit *limit)
{
    return failed || limit->rlim_cur == RLIM_INFINITY ? INFINITY : (double)limit->rlim_cur;
}

double machine_memory(void)
{
    struct rlimit limit;
    double all = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    double addresses = soft_limit(getrlimit(RLIMIT_AS, &limit), &limit);
    double data = soft_limit(getrlimit(RLIMIT_DATA, &limit), &limit);
    return fmin(fmin(all, memory_limit("")), fmin(addresses, data));
}
