/* Options from a file: `name = value` a line.
 *
 *   # comment            up to the end of the line, outside quotes
 *   band = 4.5
 *   target = "late #2"   quotes, single or double, keep blanks and #
 *   standardize = true
 *
 * What was given before the file is read stays; the file's value is still checked. */
#include "inference/options/option_spec.h"
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define LABEL_SIZE 300
#define LINE_SIZE  65536
#define LINES_MAX  1000000

typedef struct {
    sbps_options *options;
    const char *path;
    size_t line;
    unsigned char before[OPTION_MAX]; /* given before the file was opened */
    size_t seen[OPTION_MAX];          /* line that set it; 0: none */
} reader;

static char *skip_blanks(char *text)
{
    while (isspace((unsigned char)*text)) text++;
    return text;
}

static void trim_end(char *text)
{
    size_t length = strlen(text);
    while (length && isspace((unsigned char)text[length - 1])) text[--length] = '\0';
}

/* True when nothing but blanks and a comment follows. */
static bool is_rest_empty(char *text)
{
    text = skip_blanks(text);
    return !*text || *text == '#';
}

/* Takes quotes or a comment off in place; NULL when a quote stays open or is followed by more.
 */
static char *take_value(char *text)
{
    text = skip_blanks(text);
    if (*text == '"' || *text == '\'') {
        char *close = strchr(text + 1, *text);
        if (!close || !is_rest_empty(close + 1)) return NULL;
        *close = '\0';
        return text + 1;
    }
    text[strcspn(text, "#")] = '\0';
    trim_end(text);
    return text;
}

/* One option of the file, its name and value already cut out. */
static sbps_status take_option(reader *r, const char *name, const char *value, sbps_error *err)
{
    char label[LABEL_SIZE];
    snprintf(label, sizeof label, "%.200s:%zu: ", r->path, r->line);
    size_t index = option_find(name);
    if (index == option_count()) return option_unknown(label, name, err);
    if (!strcmp(name, "config"))
        return fail(err, SBPS_BAD_ARG, "%sa config file cannot name another", label);
    if (r->seen[index])
        return fail(err, SBPS_BAD_ARG, "%s'%s' was set already on line %zu", label, name,
                    r->seen[index]);
    if (!strcmp(name, "model") && strchr(value, '/'))
        return fail(err, SBPS_BAD_ARG,
                    "%sa file cannot have code loaded: say --model %.80s on the command line",
                    label, value);
    r->seen[index] = r->line;
    snprintf(label, sizeof label, "%.200s:%zu: %s", r->path, r->line, name);
    const option_spec spec = option_at(index);
    if (r->before[index]) return spec.type->parse(&spec, label, value, NULL, err);
    return option_store(r->options, index, label, value, err);
}

static sbps_status take_line(reader *r, char *line, sbps_error *err)
{
    char *name = skip_blanks(line);
    if (is_rest_empty(name)) return SBPS_OK;
    char *equals = strchr(name, '=');
    if (!equals || equals == name)
        return fail(err, SBPS_BAD_ARG, "%s:%zu: want `name = value`", r->path, r->line);
    *equals = '\0';
    trim_end(name);
    char *value = take_value(equals + 1);
    if (!value)
        return fail(err, SBPS_BAD_ARG, "%s:%zu: %s: a quote is not closed, or text follows it",
                    r->path, r->line, name);
    return take_option(r, name, value, err);
}

/* The next line without its end; *ended when none follows it. Files without lines, as devices are, are
 * refused before they fill the memory. */
static sbps_status read_line(const reader *r, FILE *file, char line[LINE_SIZE], bool *ended,
                             sbps_error *err)
{
    size_t length = 0;
    int c;
    while ((c = getc(file)) != EOF && c != '\n') {
        if (c == '\0')
            return fail(err, SBPS_BAD_FILE, "%s:%zu: holds a zero byte: is this a text file?",
                        r->path, r->line);
        if (length == LINE_SIZE - 1 || r->line > LINES_MAX)
            return fail(err, SBPS_BAD_FILE, "%s:%zu: too long: is this a text file?", r->path,
                        r->line);
        line[length++] = (char)c;
    }
    line[length] = '\0';
    *ended = c == EOF;
    if (ferror(file)) return fail(err, SBPS_NO_FILE, "%s: %s", r->path, strerror(errno));
    return SBPS_OK;
}

sbps_status options_read(sbps_options *options, const char *path, sbps_error *err)
{
    sbps_status status = SBPS_OK;
    bool ended = false;
    reader r = {.options = options, .path = path};
    memcpy(r.before, options->given, option_count());
    char *line = malloc(LINE_SIZE); /* too much for a small stack */
    if (!line) return fail_memory(err);
    FILE *file = fopen(path, "r");
    if (!file) {
        free(line);
        return fail(err, SBPS_NO_FILE, "%s: %s", path, strerror(errno));
    }
    errno = 0;
    while (status == SBPS_OK && !ended) {
        r.line++;
        status = read_line(&r, file, line, &ended, err);
        if (status == SBPS_OK) status = take_line(&r, line, err);
    }
    fclose(file);
    free(line);
    return status;
}
