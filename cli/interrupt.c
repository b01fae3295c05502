/* Signals, and calls that may crash. A handler has no argument for the run, so this file has
 * the only global variables of the program. */
#include "cli/interrupt.h"

#include "cli/cli.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
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

/* A notice may come repeatedly, as SIGXCPU does each second, or before SIGTERM: while draws are
 * saved it does not end the program. */
static void on_signal(int number)
{
    static const char message[] = "\nsbps: interrupted\n";
    /* These signals end the program at their second occurrence. */
    bool request = number == SIGINT || number == SIGTERM || number == SIGHUP;
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

/* ---- calls that may crash ----
 *
 * The NetCDF library crashes or gives up when an allocation inside it fails. In a child process
 * that costs a message; in this process it would cost the draws. The child returns its
 * sbps_error through a pipe; if it does not arrive whole, the child died. */

/* The child process: calls `work` and writes its error to the pipe. */
static void run_child(int answer, sbps_status (*work)(const void *self, sbps_error *err),
                      const void *self)
{
    sbps_error err = {0};
    err.status = work(self, &err);
    if (err.status == SBPS_OK && (fflush(stdout) != 0 || ferror(stdout)) && errno != EPIPE)
        set_error(&err, SBPS_NO_FILE, "standard output: %s", strerror(errno));
    /* less than PIPE_BUF, so all or nothing */
    _exit(write(answer, &err, sizeof err) == sizeof err ? CODE_OK : CODE_FAILED);
}

/* Reads the child's error; false if it is incomplete. */
static bool read_answer(int answer, sbps_error *err)
{
    ssize_t count;
    do count = read(answer, err, sizeof *err);
    while (count < 0 && errno == EINTR);
    return count == sizeof *err;
}

/* The error for a child that died with this wait status. */
static sbps_status report_crash(const char *path, int code, sbps_error *err)
{
    if (WIFSIGNALED(code) && WTERMSIG(code) == SIGPIPE) broken_pipe();
    if (WIFSIGNALED(code))
        return set_error(err, SBPS_NO_MEM,
                         "%s: out of memory: the NetCDF library ended with %s", path,
                         strsignal(WTERMSIG(code)));
    return set_error(err, SBPS_NO_MEM, "%s: out of memory: the NetCDF library gave up", path);
}

sbps_status guard(const char *path, sbps_status (*work)(const void *self, sbps_error *err),
                  const void *self, sbps_error *err)
{
    int ends[2], code = 0;
    if (pipe(ends) != 0) return work(self, err);
    fflush(stdout);
    fflush(stderr);
    pid_t child = fork();
    if (child == 0) run_child(ends[1], work, self);
    close(ends[1]);
    sbps_error answer = {0};
    bool whole = child > 0 && read_answer(ends[0], &answer);
    close(ends[0]);
    if (child < 0) return work(self, err);
    while (waitpid(child, &code, 0) < 0 && errno == EINTR) continue;
    if (!whole) return report_crash(path, code, err);
    if (answer.status != SBPS_OK) *err = answer;
    return answer.status;
}
