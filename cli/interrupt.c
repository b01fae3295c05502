/* Signals. The handler needs to know the run, so this file holds the program's only globals. */
#include "cli/interrupt.h"
#include "cli/cli.h"
#include <signal.h>
#include <string.h>
#include <unistd.h>

static sbps_run *volatile watched;
static const char *volatile mapped;
static volatile sig_atomic_t signals_seen, held;

static void on_signal(int number)
{
    static const char words[] = "\nsbps: interrupted\n";
    (void)number;
    if (++signals_seen > 1 || (!watched && !held)) {
        if (write(STDERR_FILENO, words, sizeof words - 1) < 0) _exit(CODE_INTERRUPTED);
        _exit(CODE_INTERRUPTED);
    }
    if (watched) sbps_run_interrupt(watched);
}

void interrupt_catch(void)
{
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART}, before;
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    if (sigaction(SIGHUP, NULL, &before) == 0 && before.sa_handler != SIG_IGN) /* nohup's way */
        sigaction(SIGHUP, &action, NULL);
}

void interrupt_hold(void)
{
    held = 1;
    interrupt_catch();
}

void interrupt_watch(sbps_run *run)
{
    watched = run;
}

bool interrupt_came(void)
{
    return signals_seen > 0;
}

static void say(const char *words)
{
    if (write(STDERR_FILENO, words, strlen(words)) < 0) _exit(CODE_FAILED);
}

/* Pages behind the end of a mapped file. There is no way back into what was reading them. */
static void on_lost_page(int number)
{
    (void)number;
    say("\nsbps: ");
    say(mapped ? mapped : "a mapped file");
    say(": cannot be read any more: was it cut short while it was in use, or did its disk "
        "fail?\n");
    _exit(CODE_FAILED);
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
