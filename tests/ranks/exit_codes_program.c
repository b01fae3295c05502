/* Two ranks exchange final codes: the first fails, waits in vain for the second, and waits again.
 * The argument is the path of a file, which the first makes when it has stopped waiting. */
#include "sbps_ranks.h"

#include <stdio.h>
#include <time.h>

static bool exists(const char *path)
{
    FILE *file = fopen(path, "r");
    return file && fclose(file) == 0;
}

static bool make_file(const char *path)
{
    FILE *file = fopen(path, "w");
    return file && fclose(file) == 0;
}

int main(int argc, char **argv)
{
    const struct timespec pause = {0, 20000000};
    sbps_ranks *ranks;
    sbps_error err;
    size_t failed;
    bool right;
    if (argc != 2 || sbps_ranks_open(&ranks, &err) != SBPS_OK) return 2;
    if (sbps_ranks_rank(ranks) == 0) {
        right = !sbps_ranks_exchange_codes(ranks, 3, &failed) && make_file(argv[1]);
        right = sbps_ranks_exchange_codes(ranks, 4, &failed) && failed == 0 && right;
    } else {
        while (!exists(argv[1])) nanosleep(&pause, NULL);
        right = sbps_ranks_exchange_codes(ranks, 0, &failed) && failed == 0;
    }
    /* the next exchange is another one */
    right = sbps_ranks_exchange_codes(ranks, 0, &failed) && failed == 2 && right;
    printf("rank %zu %s\n", sbps_ranks_rank(ranks), right ? "ok" : "failed");
    sbps_ranks_close(ranks);
    return right ? 0 : 1;
}
