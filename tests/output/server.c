/* The server of `--watch` without file descriptors: it waits instead of polling in a busy
 * loop. */
#include "check.h"

#include "core/threads.h"
#include "output/server/server.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

enum { STEPS = 8, STEP_MS = 40, FILES_FEW = 64 };

static int connect_to(const server *s)
{
    unsigned port = 0;
    struct sockaddr_in at = {.sin_family = AF_INET};
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (sscanf(server_address(s), "http://127.0.0.1:%u/", &port) != 1) return -1;
    at.sin_port = htons((uint16_t)port);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (fd >= 0 && connect(fd, (struct sockaddr *)&at, sizeof at) == 0) return fd;
    if (fd >= 0) close(fd);
    return -1;
}

/* True if steps without events take their full time, on however busy a machine. The first two
 * steps may have events. */
static bool steps_wait(server *s)
{
    server_step(s, STEP_MS);
    server_step(s, STEP_MS);
    double begin = clock_now();
    for (int i = 0; i < STEPS; i++) server_step(s, STEP_MS);
    return clock_now() - begin > 0.5 * 1e-3 * STEPS * STEP_MS;
}

/* Uses up all file descriptors; returns how many. */
static size_t use_up_descriptors(int *taken)
{
    size_t count = 0;
    while (count < FILES_FEW && (taken[count] = dup(STDERR_FILENO)) >= 0) count++;
    return count;
}

TEST(a_server_without_descriptors_waits_and_then_continues)
{
    server *s;
    struct rlimit before, few;
    int taken[FILES_FEW];
    REQUIRE(server_open(&s, NULL) == SBPS_OK);
    int client = connect_to(s);
    REQUIRE(client >= 0 && getrlimit(RLIMIT_NOFILE, &before) == 0);
    few = before;
    few.rlim_cur = FILES_FEW;
    REQUIRE(setrlimit(RLIMIT_NOFILE, &few) == 0);
    size_t count = use_up_descriptors(taken);
    CHECK(!server_busy(s) && steps_wait(s) && !server_busy(s));
    for (size_t i = 0; i < count; i++) close(taken[i]);
    setrlimit(RLIMIT_NOFILE, &before);
    for (int i = 0; i < 1000 && !server_busy(s); i++) server_step(s, STEP_MS);
    CHECK(server_busy(s));
    close(client);
    server_close(s);
}

/* poll fails if it is given more sockets than files may be open. */
TEST(a_server_whose_poll_fails_waits)
{
    server *s;
    struct rlimit before, none;
    REQUIRE(server_open(&s, NULL) == SBPS_OK);
    REQUIRE(getrlimit(RLIMIT_NOFILE, &before) == 0);
    none = before;
    none.rlim_cur = 1;
    REQUIRE(setrlimit(RLIMIT_NOFILE, &none) == 0);
    CHECK(steps_wait(s));
    setrlimit(RLIMIT_NOFILE, &before);
    server_close(s);
}

CHECK_MAIN
