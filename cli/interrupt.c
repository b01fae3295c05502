/* Signals. The handler needs to know the run, so this file holds the program's only globals. */
#include "cli/interrupt.h"
#include "cli/cli.h"
#include <signal.h>
#include <string.h>
#include <unistd.h>

static sbps_run *volatile watched;
static const char *volatile mapped;
static const char *volatile removed_at_exit;
static volatile sig_atomic_t requests, /* to end: SIGINT, SIGTERM, SIGHUP */
    notices,                           /* that the end is near: a batch system's */
    held, saved;

static void exit_now(int code)
{
    const char *path = removed_at_exit;
    if (path) unlink(path);
    _exit(code);
}

static bool is_request(int number)
{
    return number == SIGINT || number == SIGTERM || number == SIGHUP;
}

/* A notice may come again, as SIGXCPU does each second, or before SIGTERM: while draws are saved neither
 * ends the program. */
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

/* Unless it is ignored, as nohup and `trap '' USR1` want it. */
static void catch (int number)
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
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) catch (others[i]);
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

static void write_stderr(const char *message)
{
    if (write(STDERR_FILENO, message, strlen(message)) < 0) _exit(CODE_FAILED);
}

/* Pages behind the end of a mapped file. There is no way back into what was reading them. */
static void on_lost_page(int number)
{
    (void)number;
    write_stderr("\nsbps: ");
    write_stderr(mapped ? mapped : "a mapped file");
    write_stderr(
        ": cannot be read any more: was it cut short while it was in use, or did its disk "
        "fail?\n");
    exit_now(CODE_FAILED);
}

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
