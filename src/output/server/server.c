/* The server of a page: requests, answers and clients. */
#include "output/server/server.h"

#include "core/memory.h"
#include "core/threads.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum {
    CLIENTS_MAX = 16,
    HEAD_MAX = 4096, /* bytes of a request */
    TOKEN_BYTES = 16,
    DRAIN_MAX = 1 << 16 /* bytes read and discarded after an answer */
};
#define REQUEST_SECONDS 5.0  /* for a request to arrive */
#define ANSWER_SECONDS  20.0 /* for its answer to be received */
#define DRAIN_SECONDS   1.0
#define PAUSE_SECONDS   0.5 /* before the next attempt after a failed accept */

/* A page with a count of its users: clients that are still receiving an old page keep it. */
typedef struct {
    size_t users, length;
    char *bytes;
} shared_page;

typedef enum { FREE, REQUESTING, ANSWERING, DRAINING } client_state;

typedef struct {
    client_state state;
    int fd;
    double since, until; /* time of connection; deadline of this state */
    size_t used, sent, drained;
    char head[HEAD_MAX + 1]; /* of the request, then of the answer */
    shared_page *page;       /* the body; NULL: it is in `head` */
} client;

struct server {
    int listening, wake[2];
    unsigned port;
    char token[2 * TOKEN_BYTES + 1];
    char address[64 + 2 * TOKEN_BYTES];
    shared_page *page; /* NULL: none yet */
    size_t served;
    double paused_until; /* by clock_now(); no client is accepted before */
    client clients[CLIENTS_MAX];
};

/* ---- opening ---- */

/* 128 random bits in hexadecimal; false: the system has none. */
static bool make_token(char *out)
{
    unsigned char bytes[TOKEN_BYTES];
    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes) return false;
    for (size_t i = 0; i < sizeof bytes; i++) snprintf(out + 2 * i, 3, "%02x", bytes[i]);
    return true;
}

/* Makes a descriptor non-blocking and closed on exec. */
static bool make_nonblocking(int fd)
{
    int flags = fcntl(fd, F_GETFL);
    return flags >= 0 && fcntl(fd, F_SETFL, flags | O_NONBLOCK) == 0 &&
           fcntl(fd, F_SETFD, FD_CLOEXEC) == 0;
}

/* Opens a listening socket on 127.0.0.1; the system chooses the port. */
static bool listen_on_loopback(server *s)
{
    struct sockaddr_in at = {.sin_family = AF_INET};
    socklen_t size = sizeof at;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    s->listening = socket(AF_INET, SOCK_STREAM, 0);
    if (s->listening < 0 || !make_nonblocking(s->listening)) return false;
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
                 make_nonblocking(s->wake[0]) && make_nonblocking(s->wake[1]);
    if (!ready) {
        int error = errno;
        server_close(s);
        return fail(err, SBPS_NO_FILE, "cannot serve a page on 127.0.0.1: %s", strerror(error));
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

/* Gives up one use of a page; the last one frees it. */
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

/* ---- requests ---- */

static const char not_found[] = "404 Not Found";

/* Compares in a time that does not depend on the place of a difference. */
static bool same_secret(const char *a, const char *b, size_t length)
{
    unsigned char differ = 0;
    for (size_t i = 0; i < length; i++) differ |= (unsigned char)(a[i] ^ b[i]);
    return differ == 0;
}

/* True if the target is exactly /TOKEN. */
static bool names_page(const char *target, size_t length, const char *token)
{
    size_t size = strlen(token);
    return length == size + 1 && *target == '/' && same_secret(target + 1, token, size);
}

/* True for 127.0.0.1:PORT and localhost:PORT. */
static bool is_own_host(const char *value, size_t length, unsigned port)
{
    static const char *const names[] = {"127.0.0.1", "localhost"};
    char host[32];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t size = (size_t)snprintf(host, sizeof host, "%s:%u", names[i], port);
        if (size == length && !strncasecmp(value, host, size)) return true;
    }
    return false;
}

/* Removes white space at both ends of *value; returns the length. */
static size_t trim(const char **value, const char *end)
{
    while (*value < end && (**value == ' ' || **value == '\t')) (*value)++;
    while (end > *value && (end[-1] == ' ' || end[-1] == '\t' || end[-1] == '\r')) end--;
    return (size_t)(end - *value);
}

/* True if there is exactly one Host header and it is ours. A page of another site whose name
 * was pointed to this machine (DNS rebinding) sends another one. */
static bool has_own_host(const char *lines, unsigned port)
{
    size_t hosts = 0, own = 0;
    for (const char *line = lines, *end; (end = strchr(line, '\n')); line = end + 1) {
        if (strncasecmp(line, "Host:", 5) != 0) continue;
        const char *value = line + 5;
        size_t length = trim(&value, end);
        hosts++;
        own += is_own_host(value, length, port);
    }
    return hosts == 1 && own == 1;
}

/* Returns the status line of the answer, "200 OK" for the page alone. `head` is
 * zero-terminated. */
static const char *answer_status(const char *head, unsigned port, const char *token)
{
    const char *line_end = strchr(head, '\n'), *target = strchr(head, ' ');
    if (!line_end || !target || target > line_end) return "400 Bad Request";
    target++;
    size_t length = strcspn(target, " \r\n");
    if (strncmp(target + length, " HTTP/1.", 8) != 0) return "400 Bad Request";
    if (strncmp(head, "GET ", 4) != 0) return "405 Method Not Allowed";
    bool exists = has_own_host(line_end + 1, port) && names_page(target, length, token);
    return exists ? "200 OK" : not_found;
}

/* ---- clients ---- */

/* Closes the connection of a client. */
static void disconnect(client *c)
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
    for (size_t i = 0; i < CLIENTS_MAX; i++) disconnect(&s->clients[i]);
    if (s->listening >= 0) close(s->listening);
    for (size_t i = 0; i < 2; i++)
        if (s->wake[i] >= 0) close(s->wake[i]);
    release(s->page);
    free(s);
}

/* Returns a free place for a client; disconnects the oldest if there is none. */
static client *find_place(server *s)
{
    client *oldest = s->clients;
    for (size_t i = 0; i < CLIENTS_MAX; i++) {
        client *c = &s->clients[i];
        if (c->state == FREE) return c;
        if (c->since < oldest->since) oldest = c;
    }
    disconnect(oldest);
    return oldest;
}

/* Accepts all waiting clients. */
static void accept_clients(server *s)
{
    int fd;
    while ((fd = accept(s->listening, NULL, NULL)) >= 0) {
        double time = clock_now();
        if (!make_nonblocking(fd)) {
            close(fd);
            continue;
        }
        *find_place(s) = (client){
            .state = REQUESTING, .fd = fd, .since = time, .until = time + REQUEST_SECONDS};
    }
    /* out of descriptors: the client stays in the queue, and poll would return at once for
     * ever */
    if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED)
        s->paused_until = clock_now() + PAUSE_SECONDS;
}

/* Writes the head of the answer. The headers forbid the browser to cache the page, to guess its
 * type, to embed it in another page and to send its address to others. */
static void write_answer(server *s, client *c, const char *status)
{
    bool page = !strncmp(status, "200", 3) && s->page,
         head_only = !strncmp(c->head, "HEAD ", 5);
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
        strncmp(status, "405", 3) ? "" : "Allow: GET\r\n", page || head_only ? "" : body);
    c->state = ANSWERING;
    c->sent = 0;
    c->until = clock_now() + ANSWER_SECONDS;
    if (!page) return;
    c->page = s->page;
    c->page->users++;
    s->served++;
}

/* Reads a request; writes the answer when it is complete or invalid. */
static void read_request(server *s, client *c)
{
    ssize_t count = recv(c->fd, c->head + c->used, HEAD_MAX - c->used, 0);
    if (count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR)) {
        disconnect(c);
        return;
    }
    if (count < 0) return;
    c->used += (size_t)count;
    c->head[c->used] = '\0';
    if (memchr(c->head, '\0', c->used))
        write_answer(s, c, "400 Bad Request");
    else if (memmem(c->head, c->used, "\r\n\r\n", 4) || memmem(c->head, c->used, "\n\n", 2))
        write_answer(s, c, answer_status(c->head, s->port, s->token));
    else if (c->used == HEAD_MAX)
        write_answer(s, c, "431 Request Header Fields Too Large");
}

/* Finds the bytes of the answer that are sent next; returns their number. */
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

/* Sends as much of the answer as the socket takes. */
static void send_answer(client *c)
{
    const char *bytes = NULL;
    for (size_t left; (left = next_bytes(c, &bytes)) > 0;) {
        ssize_t count = send(c->fd, bytes, left, MSG_NOSIGNAL);
        if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
        if (count < 0) {
            disconnect(c);
            return;
        }
        c->sent += (size_t)count;
    }
    /* Closing at once would discard the answer if the client is still sending. */
    shutdown(c->fd, SHUT_WR);
    c->state = DRAINING;
    c->until = clock_now() + DRAIN_SECONDS;
}

/* Discards what a client still sends. */
static void drain(client *c)
{
    char discarded[4096];
    ssize_t count = recv(c->fd, discarded, sizeof discarded, 0);
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (count > 0) c->drained += (size_t)count;
    if (count <= 0 || c->drained > DRAIN_MAX) disconnect(c);
}

/* ---- steps ---- */

void server_wake(server *s)
{
    char byte = 1;
    /* if the pipe is full the server wakes up anyway */
    if (write(s->wake[1], &byte, 1) < 0) return;
}

/* Lists the descriptors for poll: listening socket, wake pipe, clients. Returns their
 * number. */
static size_t list_sockets(server *s, struct pollfd *list, client **clients)
{
    size_t count = 0;
    bool paused = clock_now() < s->paused_until;
    list[count++] = (struct pollfd){.fd = paused ? -1 : s->listening, .events = POLLIN};
    list[count++] = (struct pollfd){.fd = s->wake[0], .events = POLLIN};
    for (size_t i = 0; i < CLIENTS_MAX; i++) {
        client *c = &s->clients[i];
        if (c->state == FREE) continue;
        clients[count] = c;
        list[count++] =
            (struct pollfd){.fd = c->fd, .events = c->state == ANSWERING ? POLLOUT : POLLIN};
    }
    return count;
}

void server_step(server *s, int milliseconds)
{
    struct pollfd list[CLIENTS_MAX + 2];
    client *clients[CLIENTS_MAX + 2];
    size_t count = list_sockets(s, list, clients);
    if (poll(list, (nfds_t)count, milliseconds) < 0) {
        if (errno != EINTR) {
            /* Waits instead of the poll, because the next one will fail as well. */
            struct timespec t = {milliseconds / 1000, milliseconds % 1000 * 1000000L};
            nanosleep(&t, NULL);
        }
        return;
    }
    if (list[1].revents) {
        char discarded[64];
        while (read(s->wake[0], discarded, sizeof discarded) > 0) continue;
    }
    for (size_t i = 2; i < count; i++)
        if (list[i].revents) {
            client *c = clients[i];
            if (c->state == REQUESTING)
                read_request(s, c);
            else if (c->state == DRAINING)
                drain(c);
            if (c->state == ANSWERING) send_answer(c);
        }
    for (size_t i = 0; i < CLIENTS_MAX; i++)
        if (s->clients[i].state != FREE && clock_now() > s->clients[i].until)
            disconnect(&s->clients[i]);
    if (list[0].revents) accept_clients(s);
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
