#include "cli/several.h"
#include "cli/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define KEPT 4096 /* bytes of what it had to say last */

bool several_first(const sbps_ranks *ranks)
{
    return sbps_ranks_rank(ranks) == 0;
}

/* What it would have said goes to memory, results to nowhere. */
static bool fall_silent(several *s)
{
    int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    s->voice = dup(STDERR_FILENO);
    s->log_fd = memfd_create("said", MFD_CLOEXEC);
    bool silent = nowhere >= 0 && s->voice >= 0 && s->log_fd >= 0 &&
                  dup2(nowhere, STDOUT_FILENO) >= 0 && dup2(s->log_fd, STDERR_FILENO) >= 0;
    if (nowhere >= 0) close(nowhere);
    return silent;
}

sbps_status several_begin(several *s, sbps_error *err)
{
    *s = (several){.log_fd = -1, .voice = -1};
    sbps_status status = sbps_ranks_open(&s->ranks, err);
    if (status != SBPS_OK || several_first(s->ranks) || fall_silent(s)) return status;
    complain("rank %zu speaks up: %s", sbps_ranks_rank(s->ranks), strerror(errno));
    return SBPS_OK;
}

/* The last of what this rank has kept to itself. */
static void print_log(const several *s)
{
    char text[KEPT];
    if (s->log_fd < 0) return;
    fflush(stderr);
    off_t end = lseek(s->log_fd, 0, SEEK_END), from = end > KEPT ? end - KEPT : 0;
    ssize_t size = pread(s->log_fd, text, sizeof text, from);
    dup2(s->voice, STDERR_FILENO);
    fprintf(stderr, "sbps: rank %zu of %zu:\n", sbps_ranks_rank(s->ranks),
            sbps_ranks_size(s->ranks));
    if (size > 0) fwrite(text, 1, (size_t)size, stderr);
    fflush(stderr);
}

static void print_traffic(const several *s)
{
    double messages, bytes;
    if (!getenv("SBPS_TRAFFIC") || !several_first(s->ranks)) return;
    sbps_ranks_traffic(s->ranks, &messages, &bytes);
    complain("%.0f messages, %.0f bytes", messages, bytes);
}

int several_end(several *s, int code)
{
    size_t speaker;
    if (!s->ranks) return code;
    fflush(stdout);
    bool all = sbps_ranks_exchange_codes(s->ranks, code, &speaker);
    if (code != CODE_OK && (!all || speaker == sbps_ranks_rank(s->ranks))) print_log(s);
    if (!all) sbps_ranks_end_all(s->ranks, code);
    print_traffic(s);
    sbps_ranks_close(s->ranks);
    s->ranks = NULL;
    return code;
}
