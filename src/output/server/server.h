/* One page over HTTP/1.0, on 127.0.0.1 alone and to who knows its address: http://127.0.0.1:PORT/TOKEN, where the system has
 * chosen the port and 128 random bits are the token. GET of that, with a Host that is ours, gives the page; all else
 * is not found, or refused. Nothing is read but the head of a request, of at most 4 KiB. One thread does it all, and
 * no client can make it wait: sockets do not block, each has a time to be done by, and the oldest gives way to a new one
 * where there are many. */
#ifndef OUTPUT_SERVER_H
#define OUTPUT_SERVER_H

#include "core/status.h"

typedef struct server server;

sbps_status server_open(server **out, sbps_error *err);
void server_close(server *s); /* NULL is fine */
const char *server_address(const server *s);

/* What is served from now on; `page` is taken. */
void server_put(server *s, char *page);
/* Waits until something happens, at most so many milliseconds, and answers it. */
void server_step(server *s, int milliseconds);
/* From any thread: the step under way ends. */
void server_wake(server *s);

/* Pages given away so far, and whether somebody is still being answered. */
size_t server_served(const server *s);
bool server_busy(const server *s);

#endif
