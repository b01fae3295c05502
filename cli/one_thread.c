/* OpenBLAS starts its threads when it is loaded, before main: more than are ever used here, and under
 * a limit on memory those that could not start keep the program from ending. Only the environment can
 * keep it from that, so the program begins anew with one that does, before any library is set up. */
#include <string.h>
#include <unistd.h>

#define VARIABLE "OPENBLAS_NUM_THREADS="

#ifndef __SANITIZE_ADDRESS__ /* which is not set up either */
static void begin_with_one_thread(int argc, char **argv, char **environment)
{
    size_t count = 0;
    (void)argc;
    for (; environment[count]; count++)
        if (!strncmp(environment[count], VARIABLE, strlen(VARIABLE))) return;
    char *more[count + 2];
    memcpy(more, environment, count * sizeof *more);
    more[count] = VARIABLE "1";
    more[count + 1] = NULL;
    execve("/proc/self/exe", argv, more); /* where that is not possible, go on */
}

__attribute__((section(".preinit_array"),
               used)) static void (*const preinit)(int, char **,
                                                   char **) = begin_with_one_thread;
#endif
