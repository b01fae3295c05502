/* Words for people: wrapping, suggestions, complaints. */
#include "cli/cli.h"
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { WIDTH_USUAL = 80, WIDTH_LEAST = 40, WIDTH_MOST = 1000, NAME_MOST = 31 };

size_t terminal_width(FILE *to)
{
    struct winsize size;
    if (ioctl(fileno(to), TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        return size.ws_col < WIDTH_LEAST ? WIDTH_LEAST : size.ws_col;
    const char *columns = getenv("COLUMNS");
    long width = columns ? strtol(columns, NULL, 10) : 0;
    return width >= WIDTH_LEAST && width <= WIDTH_MOST ? (size_t)width : WIDTH_USUAL;
}

void print_wrapped(FILE *to, const char *text, size_t column, size_t indent, size_t width)
{
    bool first = true;
    while (*(text += strspn(text, " "))) {
        size_t length = strcspn(text, " ");
        if (!first && column + 1 + length > width) {
            fprintf(to, "\n%*s", (int)indent, "");
            column = indent;
        } else if (!first) {
            fputc(' ', to);
            column++;
        }
        for (size_t i = 0; i < length; i++) fputc(text[i] == '\t' ? ' ' : text[i], to);
        column += length;
        text += length;
        first = false;
    }
    fputc('\n', to);
}

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Levenshtein's distance; both at most NAME_MOST long. */
static size_t distance(const char *a, const char *b)
{
    size_t cost[NAME_MOST + 1][NAME_MOST + 1], m = strlen(a), n = strlen(b);
    for (size_t i = 0; i <= m; i++) {
        for (size_t j = 0; j <= n; j++) {
            if (!i || !j) {
                cost[i][j] = i + j;
                continue;
            }
            size_t change = cost[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
            cost[i][j] = smaller(change, 1 + smaller(cost[i - 1][j], cost[i][j - 1]));
        }
    }
    return cost[m][n];
}

/* Near: at most one slip in three letters, or an abbreviation. */
const char *nearest(const char *word, const char *(*name_at)(const void *of, size_t index),
                    const void *of)
{
    size_t length = strlen(word), best = 1 + smaller(length, NAME_MOST) / 3;
    const char *found = NULL, *name;
    if (length < 2 || length > NAME_MOST) return NULL;
    for (size_t i = 0; (name = name_at(of, i)); i++) {
        size_t far = strlen(name) > NAME_MOST ? NAME_MOST : distance(word, name);
        if (far > best || (far == best && found)) continue;
        best = far;
        found = name;
    }
    for (size_t i = 0; !found && (name = name_at(of, i)); i++)
        if (!strncmp(name, word, length)) found = name;
    return found;
}

void complain(const char *format, ...)
{
    va_list values;
    va_start(values, format);
    fputs("sbps: ", stderr);
    vfprintf(stderr, format, values);
    fputc('\n', stderr);
    va_end(values);
}

sbps_status refuse(sbps_error *err, sbps_status status, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    err->status = status;
    vsnprintf(err->text, sizeof err->text, format, values);
    va_end(values);
    return status;
}

int report_status(sbps_status status, const sbps_error *err)
{
    if (status == SBPS_OK) return CODE_OK;
    complain("%s", *err->text ? err->text : sbps_status_text(status));
    return status == SBPS_BAD_ARG ? CODE_USAGE : CODE_FAILED;
}
