/* The head of a request, as far as one page needs it. */
#ifndef OUTPUT_REQUEST_H
#define OUTPUT_REQUEST_H

#include <stdbool.h>
#include <stddef.h>

/* Whether its empty line has come. */
bool request_is_whole(const char *head, size_t length);

/* The answer's status line, "200 OK" for the page alone. `head` ends with a zero; `port` and `token` are ours. */
const char *request_answer(const char *head, unsigned port, const char *token);
/* Whether it wants to hear of an answer without its body. */
bool request_is_head(const char *head);

#endif
