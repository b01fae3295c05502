#include "output/server/server.h"

#include "core/clock.h"
#include "core/memory.h"
#include "output/server/request.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum {
    CLIENTS_MAX = 16,
    HEAD_MAX = 4096, /* bytes of a request */
    TOKEN_BYTES = 16,
    DRAIN_MAX = 1 << 16 /* bytes read and thrown away behind an answer */
};
#define REQUEST_SECONDS 5.0  /* for a request to be whole */
#define ANSWER_SECONDS  20.0 /* for its answer to be taken */
#define DRAIN_SECONDS   1.0
#define PAUSE_SECONDS   0.5 /* before the next try where a client could not be accepted */

/* Who is still being sent it keeps it. */
typedef struct {
    size_t users, length;
    char *bytes;
} shared_page;

typedef enum { FREE, ASKING, ANSWERING, DRAINING } client_state;

typedef struct {
    client_state state;
    int fd;
    double since, until; /* came; must be done */
    size_t used, sent, drained;
    char head[HEAD_MAX + 1]; /* the request's, then the answer's */
    shared_page *page;       /* NULL: the head is all */
} client;

struct server {
    int listening, wake[2];
    unsigned port;
    char token[2 * TOKEN_BYTES + 1];
    char address[64 + 2 * TOKEN_BYTES];
    shared_page *page; /* NULL: none yet */
    size_t served;
    double paused_until; /* clock_now(); until then no client is accepted */
    client clients[CLIENTS_MAX];
};

/* ---- opening ---- */

static bool make_token(char *out)
{
    unsigned char bytes[TOKEN_BYTES];
    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes) return false;
    for (size_t i = 0; i < sizeof bytes; i++) snprintf(out + 2 * i, 3, "%02x", bytes[i]);
    return true;
}

static bool make_ready(int fd)
{
    int flags = fcntl(fd, F_GETFL);
    return flags >= 0 && fcntl(fd, F_SETFL, flags | O_NONBLOCK) == 0 &&
           fcntl(fd, F_SETFD, FD_CLOEXEC) == 0;
}

static bool listen_on_loopback(server *s)
{
    struct sockaddr_in at = {.sin_family = AF_INET};
    socklen_t size = sizeof at;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    s->listening = socket(AF_INET, SOCK_STREAM, 0);
    if (s->listening < 0 || !make_ready(s->listening)) return false;
    if (bind(s->listening, (struct sockaddr *)&at, sizeof at) != 0) return false;
    if (listen(s->listening, CLIENTS_MAX) != 0) return false;
    if (getsockname(s->listening, (struct sockaddr *)&at, &size) != 0) return false;
    s->port = ntohs(at.sin_port);
    return true;
}

sbps_status server_open(server **out, sbps_error *err)
{
    server *s = calloc(1, sizeof *s);
    *out = NULL;
    if (!s) return fail_memory(err);
    s->listening = s->wake[0] = s->wake[1] = -1;
    bool ready = make_token(s->token) && listen_on_loopback(s) && pipe(s->wake) == 0 &&
                 make_ready(s->wake[0]) && make_ready(s->wake[1]);
    if (!ready) {
        int why = errno;
        server_close(s);
        return fail(err, SBPS_NO_FILE, "no page can be served on 127.0.0.1: %s", strerror(why));
    }
    snprintf(s->address, sizeof s->address, "http://127.0.0.1:%u/%s", s->port, s->token);
    *out = s;
    return SBPS_OK;
}

const char *server_address(const server *s)
{
    return s->address;
}

/* ---- pages ---- */

static void release(shared_page *p)
{
    if (!p || --p->users > 0) return;
    free(p->bytes);
    free(p);
}

void server_put(server *s, char *page)
{
    shared_page *p = malloc(sizeof *p);
    if (!p) {
        free(page);
        return;
    }
    *p = (shared_page){.users = 1, .length = strlen(page), .bytes = page};
    release(s->page);
    s->page = p;
}

/* ---- clients ---- */

static void leave(client *c)
{
    if (c->state == FREE) return;
    close(c->fd);
    release(c->page);
    c->state = FREE;
    c->page = NULL;
}

void server_close(server *s)
{
    if (!s) return;
    for (size_t i = 0; i < CLIENTS_MAX; i++) leave(&s->clients[i]);
    if (s->listening >= 0) close(s->listening);
    for (size_t i = 0; i < 2; i++)
        if (s->wake[i] >= 0) close(s->wake[i]);
    release(s->page);
    free(s);
}

static client *seat(server *s)
{
    client *oldest = s->clients;
    for (size_t i = 0; i < CLIENTS_MAX; i++) {
        client *c = &s->clients[i];
        if (c->state == FREE) return c;
        if (c->since < oldest->since) oldest = c;
    }
    leave(oldest);
    return oldest;
}

static void welcome(server *s)
{
    int fd;
    while ((fd = accept(s->listening, NULL, NULL)) >= 0) {
        double time = clock_now();
        if (!make_ready(fd)) {
            close(fd);
            continue;
        }
        *seat(s) =
            (client){.state = ASKING, .fd = fd, .since = time, .until = time + REQUEST_SECONDS};
    }
    /* who waits stays in line, and poll would report it at once, again and again */
    if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED)
        s->paused_until = clock_now() + PAUSE_SECONDS;
}

/* What a browser must not do with it is said, too: keep it, guess its type, show it inside another page, tell others
 * its address. */
static void answer(server *s, client *c, const char *status)
{
    bool page = !strncmp(status, "200", 3) && s->page, quiet = request_is_head(c->head);
    char body[64];
    snprintf(body, sizeof body, "%s\n", status);
    size_t length = page ? s->page->length : strlen(body);
    c->used = (size_t)snprintf(
        c->head, sizeof c->head,
        "HTTP/1.0 %s\r\nContent-Type: text/%s; charset=utf-8\r\nContent-Length: %zu\r\n"
        "Cache-Control: no-store\r\nConnection: close\r\nReferrer-Policy: no-referrer\r\n"
        "X-Content-Type-Options: nosniff\r\nX-Frame-Options: DENY\r\n"
        "Cross-Origin-Resource-Policy: same-origin\r\n%s\r\n%s",
        status, page ? "html" : "plain", length,
        strncmp(status, "405", 3) ? "" : "Allow: GET\r\n", page || quiet ? "" : body);
    c->state = ANSWERING;
    c->sent = 0;
    c->until = clock_now() + ANSWER_SECONDS;
    if (!page) return;
    c->page = s->page;
    c->page->users++;
    s->served++;
}

static void listen_to(server *s, client *c)
{
    ssize_t count = recv(c->fd, c->head + c->used, HEAD_MAX - c->used, 0);
    if (count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR)) {
        leave(c);
        return;
    }
    if (count < 0) return;
    c->used += (size_t)count;
    c->head[c->used] = '\0';
    if (memchr(c->head, '\0', c->used))
        answer(s, c, "400 Bad Request");
    else if (request_is_whole(c->head, c->used))
        answer(s, c, request_answer(c->head, s->port, s->token));
    else if (c->used == HEAD_MAX)
        answer(s, c, "431 Request Header Fields Too Large");
}

/* What of the answer comes next; its length. */
static size_t next_bytes(const client *c, const char **bytes)
{
    if (c->sent < c->used) {
        *bytes = c->head + c->sent;
        return c->used - c->sent;
    }
    size_t at = c->sent - c->used;
    if (!c->page || at == c->page->length) return 0;
    *bytes = c->page->bytes + at;
    return c->page->length - at;
}

/* To close at once would take the answer away from who is still talking. */
static void finish(client *c)
{
    shutdown(c->fd, SHUT_WR);
    c->state = DRAINING;
    c->until = clock_now() + DRAIN_SECONDS;
}

static void talk_to(client *c)
{
    const char *bytes = NULL;
    for (size_t left; (left = next_bytes(c, &bytes)) > 0;) {
        ssize_t count = send(c->fd, bytes, left, MSG_NOSIGNAL);
        if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
        if (count < 0) {
            leave(c);
            return;
        }
        c->sent += (size_t)count;
    }
    finish(c);
}

static void drain(client *c)
{
    char nothing[4096];
    ssize_t count = recv(c->fd, nothing, sizeof nothing, 0);
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (count > 0) c->drained += (size_t)count;
    if (count <= 0 || c->drained > DRAIN_MAX) leave(c);
}

/* ---- steps ---- */

static void empty_wake(server *s)
{
    char nothing[64];
    while (read(s->wake[0], nothing, sizeof nothing) > 0) continue;
}

void server_wake(server *s)
{
    char one = 1;
    /* where the pipe is full it is awake already */
    if (write(s->wake[1], &one, 1) < 0) return;
}

static size_t list_sockets(server *s, struct pollfd *list, client **whose)
{
    size_t count = 0;
    bool paused = clock_now() < s->paused_until;
    list[count++] = (struct pollfd){.fd = paused ? -1 : s->listening, .events = POLLIN};
    list[count++] = (struct pollfd){.fd = s->wake[0], .events = POLLIN};
    for (size_t i = 0; i < CLIENTS_MAX; i++) {
        client *c = &s->clients[i];
        if (c->state == FREE) continue;
        whose[count] = c;
        list[count++] =
            (struct pollfd){.fd = c->fd, .events = c->state == ANSWERING ? POLLOUT : POLLIN};
    }
    return count;
}

static void serve(server *s, client *c)
{
    if (c->state == ASKING)
        listen_to(s, c);
    else if (c->state == DRAINING)
        drain(c);
    if (c->state == ANSWERING) talk_to(c);
}

/* In the place of a poll that failed, which it will do again. */
static void sleep_for(int milliseconds)
{
    struct timespec t = {milliseconds / 1000, milliseconds % 1000 * 1000000L};
    nanosleep(&t, NULL);
}

void server_step(server *s, int milliseconds)
{
    struct pollfd list[CLIENTS_MAX + 2];
    client *whose[CLIENTS_MAX + 2];
    size_t count = list_sockets(s, list, whose);
    if (poll(list, (nfds_t)count, milliseconds) < 0) {
        if (errno != EINTR) sleep_for(milliseconds);
        return;
    }
    if (list[1].revents) empty_wake(s);
    for (size_t i = 2; i < count; i++)
        if (list[i].revents) serve(s, whose[i]);
    for (size_t i = 0; i < CLIENTS_MAX; i++)
        if (s->clients[i].state != FREE && clock_now() > s->clients[i].until)
            leave(&s->clients[i]);
    if (list[0].revents) welcome(s);
}

size_t server_served(const server *s)
{
    return s->served;
}

bool server_busy(const server *s)
{
    for (size_t i = 0; i < CLIENTS_MAX; i++)
        if (s->clients[i].state != FREE) return true;
    return false;
}
