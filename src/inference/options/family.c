/* Families by name. The first line of a family is its usual link; R's Gamma has another one, 1/mean, which lets means
 * become negative: ours is the logarithm. */
#include "inference/options/family.h"
#include "core/printable.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define NAME_SIZE 48
#define LINES_MAX 32

typedef struct {
    const char *name, *link, *model;
} family_line;

static const family_line lines[] = {
    {"gaussian", "identity", "linear"},
    {"linear", "identity", "linear"},
    {"student", "identity", "student_t"},
    {"student_t", "identity", "student_t"},
    {"bernoulli", "logit", "logistic"},
    {"bernoulli", "probit", "probit"},
    {"logistic", "logit", "logistic"},
    {"binomial", "logit", "binomial"},
    {"binomial", "probit", "probit"},
    {"probit", "probit", "probit"},
    {"categorical", "logit", "softmax"},
    {"softmax", "logit", "softmax"},
    {"multinomial", "logit", "softmax"},
    {"cumulative", "logit", "ordinal"},
    {"ordinal", "logit", "ordinal"},
    {"poisson", "log", "poisson"},
    {"zero_inflated_poisson", "log", "zero_inflated_poisson"},
    {"negbinomial", "log", "negative_binomial"},
    {"negative_binomial", "log", "negative_binomial"},
    {"neg_binomial_2", "log", "negative_binomial"},
    {"nbinom2", "log", "negative_binomial"},
    {"Gamma", "log", "gamma"},
    {"gamma", "log", "gamma"},
    {"Beta", "logit", "beta"},
    {"beta", "logit", "beta"},
};
#define LINES (sizeof lines / sizeof *lines)

static const char *skip_blanks(const char *at)
{
    while (*at == ' ' || *at == '\t') at++;
    return at;
}

/* A word of letters, digits and underscores into `word`; returns what follows it. */
static const char *take_identifier(const char *at, char identifier[NAME_SIZE])
{
    size_t length = 0;
    at = skip_blanks(at);
    while (isalnum((unsigned char)at[length]) || at[length] == '_') length++;
    snprintf(identifier, NAME_SIZE, "%.*s", length < NAME_SIZE ? (int)length : NAME_SIZE - 1,
             at);
    return skip_blanks(at + length);
}

/* "probit)", "link = probit)" or the same in quotes, to the end of the text. */
static bool take_link(const char *at, char link[NAME_SIZE])
{
    const char *after = take_identifier(at, link);
    if (!strcmp(link, "link") && *after == '=') at = skip_blanks(after + 1);
    char quote = *at == '"' || *at == '\'' ? *at : '\0';
    at = take_identifier(at + (quote != '\0'), link);
    if (quote && *at++ != quote) return false;
    at = skip_blanks(at);
    return *link && *at == ')' && !*skip_blanks(at + 1);
}

static bool opens_family(size_t line)
{
    return line == 0 || strcmp(lines[line].name, lines[line - 1].name);
}

const char *family_at(size_t index, const char **model)
{
    for (size_t i = 0; i < LINES; i++)
        if (opens_family(i) && index-- == 0) {
            *model = lines[i].model;
            return lines[i].name;
        }
    return NULL;
}

static sbps_status unknown_family(const char *label, const char *text, const char *name,
                                  sbps_error *err)
{
    const char *names[LINES_MAX], *model;
    size_t count = 0;
    while ((names[count] = family_at(count, &model))) count++;
    return fail(err, SBPS_BAD_ARG, "%s: there is no family '%s'%s", label,
                show_name(*name ? name : text).text, nearest_or_all(name, names, count).text);
}

static sbps_status unknown_link(const char *label, const char *name, const char *link,
                                sbps_error *err)
{
    const char *links[LINES_MAX];
    size_t count = 0;
    for (size_t i = 0; i < LINES; i++)
        if (!strcmp(lines[i].name, name)) links[count++] = lines[i].link;
    return fail(err, SBPS_BAD_ARG, "%s: family %s has no link '%s'%s", label, name, link,
                nearest_or_all(link, links, count).text);
}

sbps_status family_model(const char *label, const char *text, const char **model,
                         sbps_error *err)
{
    char name[NAME_SIZE], link[NAME_SIZE] = "";
    const char *rest = take_identifier(text, name);
    bool known = false;
    if (*rest && (*rest != '(' || !take_link(rest + 1, link)))
        return fail(err, SBPS_BAD_ARG, "%s: '%s': want a family, or family(link)", label,
                    show_name(text).text);
    for (size_t i = 0; i < LINES; i++) {
        if (strcmp(lines[i].name, name)) continue;
        known = true;
        if (*link && strcmp(lines[i].link, link)) continue;
        *model = lines[i].model;
        return SBPS_OK;
    }
    return known ? unknown_link(label, name, link, err)
                 : unknown_family(label, text, name, err);
}
