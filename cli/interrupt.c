/* Signals. A handler has no argument for the run, so this file has the only global variables of
 * the program. */
#include "cli/interrupt.h"
#include "cli/cli.h"
#include <signal.h>
#include <string.h>
#include <unistd.h>

static sbps_run *volatile watched;
static const char *volatile mapped;
static const char *volatile removed_at_exit;
static volatile sig_atomic_t requests, /* SIGINT, SIGTERM, SIGHUP */
    notices,                           /* from a batch system: the others */
    held, saved; /* interrupt_defer was called; a run was watched and its draws are saved */

/* Ends the program from a signal handler, without flushing. */
static void exit_now(int code)
{
    const char *path = removed_at_exit;
    if (path) unlink(path);
    _exit(code);
}

/* Signals that end the program at their second occurrence. */
static bool is_request(int number)
{
    return number == SIGINT || number == SIGTERM || number == SIGHUP;
}

/* A notice may come repeatedly, as SIGXCPU does each second, or before SIGTERM: while draws are
 * saved it does not end the program. */
static void on_signal(int number)
{
    static const char message[] = "\nsbps: interrupted\n";
    bool request = is_request(number);
    if (request)
        requests++;
    else
        notices++;
    if (requests > 1 || (!watched && !held && (request || !saved))) {
        if (write(STDERR_FILENO, message, sizeof message - 1) < 0) exit_now(CODE_INTERRUPTED);
        exit_now(CODE_INTERRUPTED);
    }
    if (watched) sbps_run_interrupt(watched);
}

/* Handles a signal, unless the parent ignores it, as nohup and `trap '' USR1` do. */
static void catch_unless_ignored(int number)
{
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART}, before;
    sigemptyset(&action.sa_mask);
    if (sigaction(number, NULL, &before) == 0 && before.sa_handler != SIG_IGN)
        sigaction(number, &action, NULL);
}

void interrupt_catch(void)
{
    static const int others[] = {SIGHUP, SIGXCPU, SIGUSR1, SIGUSR2, SIGALRM};
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) catch_unless_ignored(others[i]);
}

void interrupt_remove(const char *path)
{
    removed_at_exit = path;
}

void interrupt_defer(void)
{
    held = 1;
    interrupt_catch();
}

void interrupt_watch(sbps_run *run)
{
    if (watched && !run) saved = 1;
    watched = run;
}

bool interrupt_came(void)
{
    return requests > 0 || notices > 0;
}

/* Writes from a signal handler. */
static void write_stderr(const char *message)
{
    if (write(STDERR_FILENO, message, strlen(message)) < 0) _exit(CODE_FAILED);
}

/* Handler of SIGBUS: a page beyond the end of a mapped file was read, and the read cannot
 * continue. */
static void on_lost_page(int number)
{
    (void)number;
    write_stderr("\nsbps: ");
    write_stderr(mapped ? mapped : "a mapped file");
    write_stderr(
        ": cannot be read any more: it was truncated while in use, or its disk failed\n");
    exit_now(CODE_FAILED);
}

/* Sets the handler of a signal, without SA_RESTART. */
static void set_action(int number, void (*handler)(int))
{
    struct sigaction action = {.sa_handler = handler};
    sigemptyset(&action.sa_mask);
    sigaction(number, &action, NULL);
}

void interrupt_mapped(const char *path)
{
    mapped = path;
    set_action(SIGBUS, on_lost_page);
}

void failed_writes_report(void)
{
    set_action(SIGPIPE, SIG_IGN);
    set_action(SIGXFSZ, SIG_IGN);
}

void broken_pipe(void)
{
    set_action(SIGPIPE, SIG_DFL);
    raise(SIGPIPE);
}
