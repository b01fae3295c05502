/* Ranks other than the first redirect their standard output to /dev/null and standard error to
 * a memory file. If the job fails, the first rank that failed prints the end of its memory
 * file. */
#include "cli/rank_output.h"
#include "cli/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define LOG_MAX 4096 /* bytes of the memory file that are printed */

bool is_first_rank(const sbps_ranks *ranks)
{
    return sbps_ranks_rank(ranks) == 0;
}

/* Redirects both streams; false if that fails. */
static bool redirect_streams(rank_output *s)
{
    int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    s->stderr_fd = dup(STDERR_FILENO);
    s->log_fd = memfd_create("messages", MFD_CLOEXEC);
    bool redirected = nowhere >= 0 && s->stderr_fd >= 0 && s->log_fd >= 0 &&
                      dup2(nowhere, STDOUT_FILENO) >= 0 && dup2(s->log_fd, STDERR_FILENO) >= 0;
    if (nowhere >= 0) close(nowhere);
    return redirected;
}

sbps_status rank_output_begin(rank_output *s, sbps_error *err)
{
    *s = (rank_output){.log_fd = -1, .stderr_fd = -1};
    sbps_status status = sbps_ranks_open(&s->ranks, err);
    if (status != SBPS_OK || is_first_rank(s->ranks) || redirect_streams(s)) return status;
    print_message("rank %zu prints its own messages: %s", sbps_ranks_rank(s->ranks),
                  strerror(errno));
    return SBPS_OK;
}

/* Prints the end of the memory file. */
static void print_log(const rank_output *s)
{
    char text[LOG_MAX];
    if (s->log_fd < 0) return;
    fflush(stderr);
    off_t end = lseek(s->log_fd, 0, SEEK_END), from = end > LOG_MAX ? end - LOG_MAX : 0;
    ssize_t size = pread(s->log_fd, text, sizeof text, from);
    dup2(s->stderr_fd, STDERR_FILENO);
    fprintf(stderr, "sbps: rank %zu of %zu:\n", sbps_ranks_rank(s->ranks),
            sbps_ranks_size(s->ranks));
    if (size > 0) fwrite(text, 1, (size_t)size, stderr);
    fflush(stderr);
}

int rank_output_end(rank_output *s, int code)
{
    size_t failed;
    if (!s->ranks) return code;
    fflush(stdout);
    bool all = sbps_ranks_exchange_codes(s->ranks, code, &failed);
    if (code != CODE_OK && (!all || failed == sbps_ranks_rank(s->ranks))) print_log(s);
    if (!all) sbps_ranks_end_all(s->ranks, code);
    if (getenv("SBPS_TRAFFIC") && is_first_rank(s->ranks)) {
        double messages, bytes;
        sbps_ranks_traffic(s->ranks, &messages, &bytes);
        print_message("%.0f messages, %.0f bytes", messages, bytes);
    }
    sbps_ranks_close(s->ranks);
    s->ranks = NULL;
    return code;
}
