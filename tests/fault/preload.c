/* Loaded by LD_PRELOAD: makes one allocation after the start of main fail.
 *
 *   FAIL_COUNT=FILE  counts them there, as an unsigned long; without it nothing happens
 *   FAIL_AT=K        the K-th fails, from 1; absent: none does
 *
 * Counted are malloc, calloc, realloc and the aligned ones: what everything else that allocates is
 * made of, the C library included. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static atomic_ulong *calls; /* NULL: main has not begun */
static unsigned long fail_at;
static int (*real_main)(int, char **, char **);

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *block, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

static bool refused(void)
{
    if (!calls || atomic_fetch_add(calls, 1) + 1 != fail_at) return false;
    errno = ENOMEM;
    return true;
}

void *malloc(size_t size)
{
    return refused() ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    return refused() ? NULL : __libc_calloc(count, size);
}

void *realloc(void *block, size_t size)
{
    return refused() ? NULL : __libc_realloc(block, size);
}

void *memalign(size_t alignment, size_t size)
{
    return refused() ? NULL : __libc_memalign(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return refused() ? NULL : __libc_memalign(alignment, size);
}

int posix_memalign(void **out, size_t alignment, size_t size)
{
    void *block = refused() ? NULL : __libc_memalign(alignment, size);
    if (!block) return ENOMEM;
    *out = block;
    return 0;
}

/* Child processes are counted, too, however they end. */
static void share_counter(const char *path)
{
    int file = open(path, O_RDWR | O_CREAT | O_TRUNC, 0666);
    if (file < 0 || ftruncate(file, sizeof *calls) != 0) _exit(99);
    calls = mmap(NULL, sizeof *calls, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (calls == MAP_FAILED) _exit(99);
    close(file);
}

static int counted_main(int argc, char **argv, char **environment)
{
    const char *at = getenv("FAIL_AT"), *path = getenv("FAIL_COUNT");
    if (at) fail_at = strtoul(at, NULL, 10);
    if (path) share_counter(path);
    return real_main(argc, argv, environment);
}

/* The start code of the program calls this with main. */
int __libc_start_main(int (*program)(int, char **, char **), int argc, char **argv,
                      int (*init)(int, char **, char **), void (*fini)(void),
                      void (*rtld_fini)(void), void *stack_end);

int __libc_start_main(int (*program)(int, char **, char **), int argc, char **argv,
                      int (*init)(int, char **, char **), void (*fini)(void),
                      void (*rtld_fini)(void), void *stack_end)
{
    int (*start)(int (*)(int, char **, char **), int, char **, int (*)(int, char **, char **),
                 void (*)(void), void (*)(void), void *);
    *(void **)&start = dlsym(RTLD_NEXT, "__libc_start_main");
    real_main = program;
    return start(counted_main, argc, argv, init, fini, rtld_fini, stack_end);
}
