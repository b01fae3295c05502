/* The NetCDF library crashes or gives up when an allocation inside it fails. In a child process
 * that costs a message; in this process it would cost the draws. The child returns its
 * sbps_error through a pipe; if it does not arrive whole, the child died. */
#include "cli/guard.h"
#include "cli/cli.h"
#include "cli/interrupt.h"
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

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
