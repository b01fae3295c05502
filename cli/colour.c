/* Colours for people at a terminal: what is well, what is not, and headings. A line has one by how it begins; nothing is said
 * by colour alone. NO_COLOR (no-color.org), TERM=dumb, a pipe or a file: none. */
#include "cli/cli.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RESET "\033[0m"

typedef struct {
    const char *begin, *style;
} line_style;

#define WELL    "\033[32m"
#define ODD     "\033[33m"
#define HEADING "\033[1m"

static const line_style styles[] = {
    {"Nothing wrong was found", WELL},
    {"Nothing is off", WELL},
    {"That is more than a twentieth", ODD},
    {"name  ", HEADING},
    {"run  ", HEADING},
    {"statistic  ", HEADING},
    {"expression  ", HEADING},
    {"Usage: ", HEADING},
};

bool wants_colour(FILE *to)
{
    const char *no = getenv("NO_COLOR"), *terminal = getenv("TERM");
    return isatty(fileno(to)) && !(no && *no) && terminal && *terminal &&
           strcmp(terminal, "dumb") != 0;
}

/* "1. A finding": something to look at. */
static bool is_finding(const char *line)
{
    size_t digits = strspn(line, "0123456789");
    return digits > 0 && line[digits] == '.' && line[digits + 1] == ' ';
}

/* "Pareto k   3 of 150 rows": none is as it should be. */
static bool has_bad_rows(const char *line)
{
    static const char begin[] = "Pareto k ";
    return strncmp(line, begin, sizeof begin - 1) == 0 && atoi(line + sizeof begin - 1) > 0;
}

static const char *style_of(const char *line)
{
    if (is_finding(line) || has_bad_rows(line)) return ODD;
    for (size_t i = 0; i < sizeof styles / sizeof *styles; i++)
        if (strncmp(line, styles[i].begin, strlen(styles[i].begin)) == 0)
            return styles[i].style;
    return NULL;
}

void print_coloured(FILE *to, const char *text)
{
    char line[4096];
    bool colours = wants_colour(to);
    while (*text) {
        size_t length = strcspn(text, "\n");
        if (!colours || length >= sizeof line) {
            print_plain(to, text);
            return;
        }
        snprintf(line, sizeof line, "%.*s", (int)length, text);
        const char *style = style_of(line);
        if (style) fputs(style, to);
        print_plain(to, line);
        if (style) fputs(RESET, to);
        text += length;
        if (*text) fputc(*text++, to);
    }
}
