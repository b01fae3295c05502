/* Priors of coefficients by their names. Names may hold = and parentheses themselves, as colour=red and log(z) do: a
 * prior begins behind the last = that the name of a prior follows. */
#include "inference/options/prior_list.h"
#include "core/kind_tables.h"
#include "core/printable.h"
#include "model/prior/prior_shrinkage.h"

#include <stdlib.h>
#include <string.h>

static const char *skip_blanks(const char *at)
{
    while (*at == ' ' || *at == '\t' || *at == '\n') at++;
    return at;
}

static void trim(char *text)
{
    size_t length = strlen(text);
    while (length > 0 && strchr(" \t\n", text[length - 1])) text[--length] = '\0';
}

/* Does the name of a prior, or auto, stand here? */
static bool begins_prior(const char *at)
{
    char name[32];
    size_t length = strcspn(at, "( \t\n");
    if (length >= sizeof name) return false;
    memcpy(name, at, length);
    name[length] = '\0';
    return prior_find(name) || shrinkage_names(name) || !strcmp(name, "auto");
}

/* The = before the prior of a piece; where none is known the last one, so that a misspelt prior is told as such;
 * NULL: the piece has no name. */
static char *find_equals(char *piece)
{
    char *last = strrchr(piece, '=');
    if (begins_prior(skip_blanks(piece))) return NULL;
    for (char *at = last; at && at > piece; at--)
        if (*at == '=' && begins_prior(skip_blanks(at + 1))) return at;
    return last;
}

/* Of two pieces of one name only one could count. */
static sbps_status check_once(const prior_list *list, const prior_piece *piece, sbps_error *err)
{
    for (const prior_piece *other = list->piece; other < piece; other++) {
        if (!piece->name && !other->name)
            return fail(err, SBPS_BAD_ARG, "two priors without a name: which is for the rest?");
        if (piece->name && other->name && !strcmp(piece->name, other->name))
            return fail(err, SBPS_BAD_ARG, "'%s' is given two priors",
                        show_name(piece->name).text);
    }
    return SBPS_OK;
}

static sbps_status parse_piece(char *text, prior_piece *out, sbps_error *err)
{
    char *equals = find_equals(text);
    const char *prior_text = skip_blanks(equals ? equals + 1 : text);
    if (equals) {
        *equals = '\0';
        trim(text);
        if (!*skip_blanks(text))
            return fail(err, SBPS_BAD_ARG, "no name before '=%.80s'", equals + 1);
        if (!(out->name = strdup(skip_blanks(text)))) return fail_memory(err);
    }
    out->usual = !strcmp(prior_text, "auto");
    return out->usual ? SBPS_OK : prior_parse(prior_text, &out->distribution, err);
}

sbps_status prior_list_parse(const char *text, prior_list *out, sbps_error *err)
{
    size_t limit = 1;
    for (const char *at = text; *at; at++) limit += *at == ';';
    char *copy = strdup(text), *rest = copy, *each;
    *out = (prior_list){.piece = calloc(limit, sizeof *out->piece)};
    sbps_status status = copy && out->piece ? SBPS_OK : fail_memory(err);
    while (status == SBPS_OK && (each = strsep(&rest, ";"))) {
        trim(each);
        if (!*each && limit > 1) continue; /* a semicolon at the end */
        prior_piece *piece = &out->piece[out->count++];
        status = parse_piece(each, piece, err);
        if (status == SBPS_OK) status = check_once(out, piece, err);
    }
    free(copy);
    return status;
}

bool prior_list_names(const prior_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        if (list->piece[i].name) return true;
    return false;
}

/* The last * takes as little as will do; where that does not fit it is given one character more. */
static bool fits(const char *pattern, const char *name)
{
    const char *star = NULL, *from = NULL;
    while (*name) {
        if (*pattern == '*') {
            star = pattern++;
            from = name;
        } else if (*pattern == *name) {
            pattern++;
            name++;
        } else if (star) {
            pattern = star + 1;
            name = ++from;
        } else
            return false;
    }
    while (*pattern == '*') pattern++;
    return !*pattern;
}

const prior_piece *prior_list_find(prior_list *list, const char *name)
{
    prior_piece *rest = NULL, *pattern = NULL, *exact = NULL;
    for (size_t i = 0; i < list->count; i++) {
        prior_piece *each = &list->piece[i];
        if (!each->name)
            rest = each;
        else if (!strcmp(each->name, name))
            exact = each;
        else if (fits(each->name, name))
            pattern = each;
        else
            continue;
        each->used = true; /* another may go before it: that is no mistake */
    }
    return exact ? exact : pattern ? pattern : rest;
}

void prior_list_close(prior_list *list)
{
    for (size_t i = 0; i < list->count; i++) free(list->piece[i].name);
    free(list->piece);
    *list = (prior_list){0};
}
