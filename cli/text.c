/* Printing: wrapped text, suggestions, messages, colours.
 *
 * On a terminal good news, findings and headings have a colour, chosen by how a line begins; no
 * information is given by colour alone. NO_COLOR (no-color.org), TERM=dumb, a pipe or a file:
 * no colours. */
#include "cli/cli.h"
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* Bytes of a message; columns of a terminal; names that suggest_name compares. */
enum {
    MESSAGE_SIZE = 16384,
    WIDTH_USUAL = 80,
    WIDTH_MIN = 40,
    WIDTH_MAX = 1000,
    NAMES_MAX = 256
};

size_t terminal_width(FILE *to)
{
    struct winsize size;
    if (ioctl(fileno(to), TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        return size.ws_col < WIDTH_MIN ? WIDTH_MIN : size.ws_col;
    const char *columns = getenv("COLUMNS");
    long width = columns ? strtol(columns, NULL, 10) : 0;
    return width >= WIDTH_MIN && width <= WIDTH_MAX ? (size_t)width : WIDTH_USUAL;
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

name_hint suggest_name(const char *input, name_list from, const char *otherwise, ...)
{
    name_hint hint;
    const char *names[NAMES_MAX], *name;
    size_t count = 0;
    for (; count < NAMES_MAX && (name = from.at(from.of, count)); count++) names[count] = name;
    const char *near = sbps_nearest(input, names, count);
    va_list values;
    va_start(values, otherwise);
    if (near)
        snprintf(hint.text, sizeof hint.text, ", did you mean '%s%s'?", from.before, near);
    else
        vsnprintf(hint.text, sizeof hint.text, otherwise, values);
    va_end(values);
    return hint;
}

/* Replaces C0 control characters (except those in `kept`), DEL, and C1 in UTF-8 by '?'. In a
 * name or a path they could move the cursor or imitate a message. */
static void print_without_controls(FILE *to, const char *text, const char *kept)
{
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text, next = (unsigned char)text[1];
        bool c1 = c == 0xc2 && next >= 0x80 && next <= 0x9f;
        bool control = (c < 0x20 && !strchr(kept, c)) || c == 0x7f || c1;
        fputc(control ? '?' : c, to);
        text += c1;
    }
}

void print_plain(FILE *to, const char *text)
{
    print_without_controls(to, text, "\n\t");
}

sbps_status print_report(sbps_status status, sbps_format format, char *text)
{
    bool plain = format == SBPS_TEXT || isatty(STDOUT_FILENO);
    if (status == SBPS_OK && plain)
        (format == SBPS_TEXT ? print_coloured : print_plain)(stdout, text);
    if (status == SBPS_OK && !plain) fputs(text, stdout);
    sbps_free(text);
    return status;
}

void print_message(const char *format, ...)
{
    char line[MESSAGE_SIZE];
    va_list values;
    va_start(values, format);
    vsnprintf(line, sizeof line, format, values);
    va_end(values);
    fputs("sbps: ", stderr);
    print_without_controls(stderr, line, "");
    fputc('\n', stderr);
}

sbps_status set_error(sbps_error *err, sbps_status status, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    err->status = status;
    vsnprintf(err->text, sizeof err->text, format, values);
    va_end(values);
    return status;
}

/* Whether a message shows the position of a mistake on further lines. */
static bool points(const char *text)
{
    static const char *const begins[] = {"formula, column ", "expression, column "};
    for (size_t i = 0; i < sizeof begins / sizeof *begins; i++)
        if (strncmp(text, begins[i], strlen(begins[i])) == 0) return true;
    return false;
}

int report_status(sbps_status status, const sbps_error *err)
{
    if (status == SBPS_OK) return CODE_OK;
    if (points(err->text)) {
        fputs("sbps: ", stderr);
        print_plain(stderr, err->text);
        fputc('\n', stderr);
    } else
        print_message("%s", *err->text ? err->text : sbps_status_text(status));
    return status == SBPS_BAD_ARG ? CODE_USAGE : CODE_FAILED;
}

void print_json_string(const char *text)
{
    putchar('"');
    for (; *text; text++) {
        if (*text == '"' || *text == '\\') putchar('\\');
        if (*text == '\t')
            putchar(' ');
        else if ((unsigned char)*text < 0x20)
            printf("\\u%04x", (unsigned)*text);
        else
            putchar(*text);
    }
    putchar('"');
}

/* ---- colours ---- */

#define RESET "\033[0m"

/* The style of lines that begin so. */
typedef struct {
    const char *begin, *style;
} line_style;

#define GOOD    "\033[32m"
#define NOTICE  "\033[33m"
#define HEADING "\033[1m"

static const line_style styles[] = {
    {"No problems found", GOOD},
    {"All ", GOOD},
    {"That is more than a twentieth", NOTICE},
    {"name  ", HEADING},
    {"run  ", HEADING},
    {"statistic  ", HEADING},
    {"expression  ", HEADING},
    {"Usage: ", HEADING},
};

/* Whether a stream is a terminal with colours. */
static bool wants_colour(FILE *to)
{
    const char *no = getenv("NO_COLOR"), *terminal = getenv("TERM");
    return isatty(fileno(to)) && !(no && *no) && terminal && *terminal &&
           strcmp(terminal, "dumb") != 0;
}

/* A finding: "1. The chains disagree". */
static bool is_finding(const char *line)
{
    size_t digits = strspn(line, "0123456789");
    return digits > 0 && line[digits] == '.' && line[digits + 1] == ' ';
}

/* "Pareto k   3 of 150 rows", unless there are 0. */
static bool has_bad_rows(const char *line)
{
    static const char begin[] = "Pareto k ";
    return strncmp(line, begin, sizeof begin - 1) == 0 && atoi(line + sizeof begin - 1) > 0;
}

/* The style of a line, or NULL. */
static const char *style_of(const char *line)
{
    if (is_finding(line) || has_bad_rows(line)) return NOTICE;
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
