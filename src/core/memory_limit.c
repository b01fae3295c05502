/* How much memory this process may use: the machine's, the limits of its control groups, which
 * containers and batch systems set, and those of setrlimit. Beyond a control group's limit Linux
 * kills the process without a message, so large requests are compared with it first.
 *
 *   /proc/self/cgroup      "4:memory:/batch/job7" (version 1) or "0::/batch/job7" (version 2)
 *   /proc/self/mountinfo   where the hierarchy is mounted, and which part of it
 *   memory.limit_in_bytes (1), memory.max (2)   of the group and of each group above it
 *
 * A file that is missing or says "max" sets no limit. See cgroups(7). */
#include "core/memory.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define PATH_SIZE 4096

typedef struct {
    const char *type, *option, *file; /* of the mount: its type, and an option it must have */
} hierarchy;

static const hierarchy version_1 = {"cgroup", "memory", "memory.limit_in_bytes"};
static const hierarchy version_2 = {"cgroup2", NULL, "memory.max"};

/* Whether `word` is one of the words of a comma-separated list. */
static bool has_item(const char *list, const char *item)
{
    size_t length = strlen(item);
    for (const char *at = list; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
        if (strcspn(at, ",\n") == length && !strncmp(at, item, length)) return true;
    return false;
}

/* Bytes in the file, INFINITY where it sets no limit. */
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

/* The smallest limit of mount/group and of the groups above it, the mount itself included. */
static double walk_up(const char *mount, const char *group, const char *file)
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

/* What of the group's path lies below the mount, of which `part` is the top: "/", or in a container
 * perhaps its own group. Paths that lead elsewhere stand for the mount itself. */
static const char *below_mount(const char *group, const char *part)
{
    size_t length = strcmp(part, "/") ? strlen(part) : 0;
    bool inside = !strncmp(group, part, length) && (group[length] == '/' || !group[length]);
    return inside && !strstr(group, "/..") && strcmp(group, "/") ? group + length : "";
}

/* The limit of one group, by every mount of its hierarchy. A line of mountinfo:
 * ID PARENT DEVICE PART MOUNT OPTIONS [FIELDS...] - TYPE SOURCE OPTIONS */
static double limit_of(const char *root, const hierarchy *h, const char *group)
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
        lowest = fmin(lowest, walk_up(path, below_mount(group, part), h->file));
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
            lowest = fmin(lowest, limit_of(root, &version_2, group));
        else if (has_item(kinds + 1, "memory"))
            lowest = fmin(lowest, limit_of(root, &version_1, group));
    }
    free(line);
    fclose(groups);
    return lowest;
}

/* Of what getrlimit gave; `failed` is what it returned. */
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
