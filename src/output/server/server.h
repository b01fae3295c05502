/* One page over HTTP/1.0, on 127.0.0.1 only, at http://127.0.0.1:PORT/TOKEN. The system chooses
 * the port; the token is 128 random bits. A GET of that address, with a Host header that is
 * ours, returns the page; everything else is not found or refused. Of a request only the head
 * is read, at most 4 KiB. One thread serves all clients and no client can block it: sockets do
 * not block, each has a deadline, and with CLIENTS_MAX clients a new one replaces the
 * oldest. */
#ifndef OUTPUT_SERVER_H
#define OUTPUT_SERVER_H

#include "core/status.h"

typedef struct server server;

/* Starts to listen. */
sbps_status server_open(server **out, sbps_error *err);
void server_close(server *s); /* NULL is fine */
/* Returns the address of the page, owned by the server. */
const char *server_address(const server *s);

/* Serves `page` from now on, and owns it; zero-terminated, from malloc. */
void server_put(server *s, char *page);
/* Waits for an event, at most `milliseconds`, and handles it. */
void server_step(server *s, int milliseconds);
/* Ends the current server_step, from any thread. */
void server_wake(server *s);

/* Return the number of pages served so far, and whether a client is connected. */
size_t server_served(const server *s);
bool server_busy(const server *s);

#endif
