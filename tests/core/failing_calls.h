/* System calls that may fail: the linker replaces the system's functions by these. Include in
 * one file of a program. */
#ifndef TESTS_CORE_FAILING_CALLS_H
#define TESTS_CORE_FAILING_CALLS_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static size_t calls, fail_from = SIZE_MAX; /* calls from this index on fail */

static bool refused(void)
{
    return calls++ >= fail_from;
}

void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size)
{
    return refused() ? NULL : __real_calloc(count, size);
}

int __real_pthread_create(pthread_t *out, const pthread_attr_t *how, void *(*run)(void *),
                          void *self);
int __wrap_pthread_create(pthread_t *out, const pthread_attr_t *how, void *(*run)(void *),
                          void *self);
int __wrap_pthread_create(pthread_t *out, const pthread_attr_t *how, void *(*run)(void *),
                          void *self)
{
    return refused() ? 11 : __real_pthread_create(out, how, run, self);
}

#endif
