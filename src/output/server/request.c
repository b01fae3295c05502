#include "output/server/request.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

static const char not_found[] = "404 Not Found";

bool request_is_whole(const char *head, size_t length)
{
    return memmem(head, length, "\r\n\r\n", 4) || memmem(head, length, "\n\n", 2);
}

bool request_is_head(const char *head)
{
    return !strncmp(head, "HEAD ", 5);
}

/* In a time that does not depend on where they differ. */
static bool same_secret(const char *a, const char *b, size_t length)
{
    unsigned char differ = 0;
    for (size_t i = 0; i < length; i++) differ |= (unsigned char)(a[i] ^ b[i]);
    return differ == 0;
}

/* /TOKEN and nothing more. */
static bool names_page(const char *target, size_t length, const char *token)
{
    size_t want = strlen(token);
    return length == want + 1 && *target == '/' && same_secret(target + 1, token, want);
}

static bool is_our_name(const char *value, size_t length, unsigned port)
{
    static const char *const names[] = {"127.0.0.1", "localhost"};
    char want[32];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t size = (size_t)snprintf(want, sizeof want, "%s:%u", names[i], port);
        if (size == length && !strncasecmp(value, want, size)) return true;
    }
    return false;
}

static size_t trim(const char **value, const char *end)
{
    while (*value < end && (**value == ' ' || **value == '\t')) (*value)++;
    while (end > *value && (end[-1] == ' ' || end[-1] == '\t' || end[-1] == '\r')) end--;
    return (size_t)(end - *value);
}

/* One Host, and it is ours: a page of elsewhere that had its name point to this machine has another. */
static bool has_our_host(const char *lines, unsigned port)
{
    size_t hosts = 0, ours = 0;
    for (const char *line = lines, *end; (end = strchr(line, '\n')); line = end + 1) {
        if (strncasecmp(line, "Host:", 5) != 0) continue;
        const char *value = line + 5;
        size_t length = trim(&value, end);
        hosts++;
        ours += is_our_name(value, length, port);
    }
    return hosts == 1 && ours == 1;
}

const char *request_answer(const char *head, unsigned port, const char *token)
{
    const char *line_end = strchr(head, '\n'), *target = strchr(head, ' ');
    if (!line_end || !target || target > line_end) return "400 Bad Request";
    target++;
    size_t length = strcspn(target, " \r\n");
    if (strncmp(target + length, " HTTP/1.", 8) != 0) return "400 Bad Request";
    if (strncmp(head, "GET ", 4) != 0) return "405 Method Not Allowed";
    bool exists = has_our_host(line_end + 1, port) && names_page(target, length, token);
    return exists ? "200 OK" : not_found;
}
