/* The prior of each coordinate.
 *
 * Defaults are the model's: those of regressions are in predictor.c; those of auxiliary
 * parameters are declared with them, in their units. The default prior of the intercept applies
 * at the means of the columns: at x = 0, which may be far from the data (a column such as a
 * year), it would shrink the slope. */
#include "inference/options/coordinate_priors.h"
#include "core/kind_tables.h"
#include "core/memory.h"
#include "core/printable.h"
#include "inference/options/target.h"
#include "linalg/cholesky.h"
#include "model/prior/prior_shrinkage.h"
#include "model/shrinkage/shrink.h"
#include "posterior/mode/mode.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- lists of priors by name ----
 *
 * Names may contain = and parentheses, as colour=red and log(z): a prior begins after the last
 * = that is followed by the name of a prior. */

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

/* True if the text begins with the name of a prior, or auto. */
static bool begins_prior(const char *at)
{
    char name[32];
    size_t length = strcspn(at, "( \t\n");
    if (length >= sizeof name) return false;
    memcpy(name, at, length);
    name[length] = '\0';
    return prior_find(name) || shrinkage_names(name) || !strcmp(name, "auto");
}

/* The = before the prior of a piece. Without a known prior the last =, so that a misspelt prior
 * is reported as such. NULL: the piece has no name. */
static char *find_equals(char *piece)
{
    char *last = strrchr(piece, '=');
    if (begins_prior(skip_blanks(piece))) return NULL;
    for (char *at = last; at && at > piece; at--)
        if (*at == '=' && begins_prior(skip_blanks(at + 1))) return at;
    return last;
}

/* Refuses two pieces with the same name. */
static sbps_status check_once(const prior_list *list, const prior_piece *piece, sbps_error *err)
{
    for (const prior_piece *other = list->piece; other < piece; other++) {
        if (!piece->name && !other->name)
            return fail(
                err, SBPS_BAD_ARG,
                "two priors without a name: only one can apply to the remaining coefficients");
        if (piece->name && other->name && !strcmp(piece->name, other->name))
            return fail(err, SBPS_BAD_ARG, "two priors are given for '%s'",
                        show_name(piece->name).text);
    }
    return SBPS_OK;
}

/* Parses `name=prior` or `prior`; changes the text. */
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
        if (!*each && limit > 1) continue; /* a trailing semicolon */
        prior_piece *piece = &out->piece[out->count++];
        status = parse_piece(each, piece, err);
        if (status == SBPS_OK) status = check_once(out, piece, err);
    }
    free(copy);
    return status;
}

/* True if the name matches the pattern. The last * first matches nothing, then one character
 * more after each mismatch. */
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

/* True if this is the name, as it is or in backticks. */
static bool is_name(const char *written, const char *name)
{
    size_t length = strlen(name);
    if (!strcmp(written, name)) return true;
    return strlen(written) == length + 2 && written[0] == '`' && written[length + 1] == '`' &&
           !strncmp(written + 1, name, length);
}

const prior_piece *prior_list_find(prior_list *list, const char *name)
{
    prior_piece *rest = NULL, *pattern = NULL, *exact = NULL;
    for (size_t i = 0; i < list->count; i++) {
        prior_piece *each = &list->piece[i];
        if (!each->name)
            rest = each;
        else if (is_name(each->name, name))
            exact = each;
        else if (fits(each->name, name))
            pattern = each;
        else
            continue;
        each->used = true; /* even if another piece takes precedence */
    }
    return exact ? exact : pattern ? pattern : rest;
}

void prior_list_close(prior_list *list)
{
    for (size_t i = 0; i < list->count; i++) free(list->piece[i].name);
    free(list->piece);
    *list = (prior_list){0};
}

/* The prior given by an option, or `fallback` for auto. */
static sbps_status parse_or_default(const char *option, const char *text, prior fallback,
                                    prior *out, sbps_error *err)
{
    *out = fallback;
    if (!text || !strcmp(text, "auto")) return SBPS_OK;
    sbps_error why;
    if (prior_parse(text, out, &why) == SBPS_OK) {
        if (!prior_shrinks(out)) return SBPS_OK;
        return fail(err, SBPS_BAD_ARG,
                    "--%s: %s is a prior of coefficients; use it with --prior", option,
                    out->kind->name);
    }
    return fail(err, SBPS_BAD_ARG, "--%s: %s", option, why.text);
}

/* The model's default prior of a weight. */
static prior usual_prior(const posterior *target, size_t j)
{
    const model_kind *model = target->model;
    double sd = model->parameters.prior_sd(target->self, j);
    double mean =
        model->parameters.prior_mean ? model->parameters.prior_mean(target->self, j) : 0.0;
    if (!isfinite(sd)) return (prior){prior_find("flat"), {0.0}};
    return (prior){prior_find("normal"), {mean, sd}};
}

/* The prior of auxiliary parameter `index`. */
static sbps_status auxiliary_prior(const sbps_options *o, const posterior *target, size_t index,
                                   prior *out, sbps_error *err)
{
    const model_kind *model = target->model;
    const model_auxiliary *of = &model->auxiliaries[index];
    prior usual;
    sbps_status status = prior_parse(of->prior, &usual, err);
    if (status != SBPS_OK) return status;
    usual = prior_in_units(&usual, model->parameters.auxiliary_unit(target->self, index));
    return parse_or_default(of->option, options_get(o, of->option), usual, out, err);
}

/* The prior of a coordinate that the model describes itself. */
static sbps_status own_prior(const sbps_options *o, const model_coordinate *own, prior *out,
                             sbps_error *err)
{
    prior usual;
    sbps_status status = prior_parse(own->prior, &usual, err);
    if (status != SBPS_OK) return status;
    usual = prior_in_units(&usual, own->unit);
    status = parse_or_default(own->option, own->option ? options_get(o, own->option) : NULL,
                              usual, out, err);
    if (out->kind->correlation) out->theta[0] += own->deeper;
    return status;
}

/* The list of --prior and the names it refers to. */
typedef struct {
    const sbps_options *options;
    const posterior *target;
    prior_list list;
    char **names; /* dim; NULL: the list has no names */
} request;

/* The prior of a weight or the intercept; refuses a flat one if the model needs a proper prior.
 */
static sbps_status weight_prior(request *r, size_t j, prior *out, sbps_error *err)
{
    const model_kind *model = r->target->model;
    bool intercept =
        model->parameters.intercept && model->parameters.intercept(r->target->self, j);
    const char *option = intercept ? "prior-intercept" : "prior";
    sbps_status status = SBPS_OK;
    if (intercept)
        status = parse_or_default(option, r->options->prior_intercept,
                                  usual_prior(r->target, j), out, err);
    else {
        const prior_piece *piece = prior_list_find(&r->list, r->names ? r->names[j] : "");
        /* coefficients with a shrinkage prior get it later */
        bool given = piece && !piece->usual && !prior_shrinks(&piece->distribution);
        *out = given ? piece->distribution : usual_prior(r->target, j);
    }
    if (status != SBPS_OK || !model->facts.needs_prior || out->kind != prior_find("flat"))
        return status;
    return fail(err, SBPS_NO_MODE,
                "--%s: with a flat prior the posterior of %s is improper: %s; use a proper "
                "prior, e.g. --%s \"normal(0,2.5)\"",
                option, model->name, model->facts.needs_prior, option);
}

/* True if the model, or the model of its rows, has an auxiliary parameter of that name. */
static bool has_auxiliary(const model_kind *model, const char *name)
{
    if (model->row_model) model = model->row_model;
    for (size_t i = 0; i < model->auxiliary_count; i++)
        if (!strcmp(model->auxiliaries[i].name, name)) return true;
    return false;
}

/* Refuses prior options that would have no effect. */
static sbps_status check_requested(const sbps_options *o, const posterior *target,
                                   sbps_error *err)
{
    const char *const of_groups[] = {"prior-sd", "prior-cor"};
    for (size_t i = 0; i < 2 && !target->model->row_model; i++)
        if (option_given(o, of_groups[i]))
            return fail(
                err, SBPS_BAD_ARG,
                "--%s needs groups, such as (1 | g) in a formula, and this model has none",
                of_groups[i]);
    const model_auxiliary *of[MODEL_AUXILIARIES_MAX];
    const char *model = o->model ? o->model : target->model->name;
    size_t count = model_auxiliary_list(of);
    for (size_t i = 0; i < count; i++)
        if (!is_auto(options_get(o, of[i]->option)) &&
            !has_auxiliary(target->model, of[i]->name))
            return fail(err, SBPS_BAD_ARG, "--%s: model %s has no parameter '%s'",
                        of[i]->option, model, of[i]->name);
    if (is_auto(o->prior_intercept) || target->data->intercept) return SBPS_OK;
    return fail(err, SBPS_BAD_ARG, "--prior-intercept: model %s has no intercept here", model);
}

/* Refuses a name that no coefficient has, pointing to the option of other parameters. */
static sbps_status unknown_name(const request *r, const char *name, sbps_error *err)
{
    const posterior *u = r->target;
    size_t weights = u->dim - u->auxiliaries;
    for (size_t i = 0; i < u->auxiliaries; i++)
        if (!strcmp(name, u->model->auxiliaries[i].name))
            return fail(err, SBPS_BAD_ARG,
                        "--prior applies to coefficients only; for %s use --%s", name,
                        u->model->auxiliaries[i].option);
    if (!strcmp(name, "intercept") || !strcmp(name, "(Intercept)"))
        return fail(
            err, SBPS_BAD_ARG,
            "--prior applies to coefficients only; for the intercept use --prior-intercept");
    return fail(err, SBPS_BAD_ARG, "--prior: no coefficient is called '%s'%s",
                show_name(name).text,
                did_you_mean(";", name, (const char *const *)r->names, weights).text);
}

/* Refuses nearly constant columns. With an intercept the Hessian contains a column's
 * contribution as 1 - cor^2 = (sd/mean)^2. If that is below the rounding error of a double and
 * only the wide default prior bounds the coefficient, the posterior cannot be computed. */
static sbps_status check_spread(const request *r, sbps_error *err)
{
    const rows *data = r->target->data;
    if (!data->intercept || !is_auto(r->options->prior)) return SBPS_OK;
    for (size_t j = 1; j < data->d; j++) {
        double ratio = data->table.sd[j] / fabs(data->table.mean[j]);
        if (!(ratio > 0.0 && ratio * ratio < DBL_EPSILON)) continue;
        return fail(err, SBPS_BAD_DATA,
                    "column '%s' is nearly constant: its standard deviation, %.2g, is too "
                    "small relative to its mean, %.6g; subtract the mean, use --standardize, "
                    "or leave the column out",
                    show_name(data->table.names[j]).text, data->table.sd[j],
                    data->table.mean[j]);
    }
    return SBPS_OK;
}

/* Chooses the prior of every coordinate, into out. */
static sbps_status choose_all(request *r, prior *out, sbps_error *err)
{
    const posterior *target = r->target;
    size_t weights = target->dim - target->auxiliaries;
    sbps_status status = SBPS_OK;
    model_coordinate own;
    for (size_t j = 0; j < weights && status == SBPS_OK; j++)
        status = target->model->parameters.coordinate &&
                         target->model->parameters.coordinate(target->self, j, &own)
                     ? own_prior(r->options, &own, out + j, err)
                     : weight_prior(r, j, out + j, err);
    for (size_t i = 0; i < r->list.count && status == SBPS_OK; i++)
        if (r->list.piece[i].name && !r->list.piece[i].used)
            status = unknown_name(r, r->list.piece[i].name, err);
    for (size_t i = 0; i < target->auxiliaries && status == SBPS_OK; i++)
        status = auxiliary_prior(r->options, target, i, out + weights + i, err);
    return status;
}

/* Parses --prior, and lists the names of the coefficients if needed. Close it also after a
 * failure. */
static sbps_status request_open(const sbps_options *o, const posterior *target, request *r,
                                sbps_error *err)
{
    sbps_error why = {0};
    *r = (request){.options = o, .target = target};
    const char *text = o->prior && *o->prior ? o->prior : "auto";
    sbps_status status = prior_list_parse(text, &r->list, &why);
    if (status != SBPS_OK) return fail(err, status, "--prior: %s", why.text);
    for (size_t i = 0; i < r->list.count; i++)
        if (r->list.piece[i].name) return target_names(target, &r->names, err);
    return SBPS_OK;
}

static void request_close(request *r)
{
    for (size_t j = 0; r->names && j < r->target->dim; j++) free(r->names[j]);
    free(r->names);
    prior_list_close(&r->list);
}

/* Sets where the prior of the intercept applies: by default a given one at x = 0, the default
 * one at the means of the columns. */
static sbps_status centre(const sbps_options *o, posterior *target, sbps_error *err)
{
    bool given = !is_auto(o->prior_intercept);
    if (is_auto(o->prior_intercept_at) ? given : !strcmp(o->prior_intercept_at, "zero"))
        return SBPS_OK;
    posterior_centre(target);
    if (!target->centred || !target->priors[0].kind->kink) return SBPS_OK;
    return fail(err, SBPS_BAD_ARG,
                "--prior-intercept-at: mean: the density of %s is not smooth, which is "
                "supported at x = 0 only; use zero, with --standardize if needed",
                target->priors[0].kind->name);
}

sbps_status priors_choose(const sbps_options *options, posterior *target, sbps_error *err)
{
    prior *priors = calloc(target->dim + 1, sizeof *priors);
    if (!priors) return fail_memory(err);
    request r;
    sbps_status status = request_open(options, target, &r, err);
    if (status == SBPS_OK) status = check_requested(options, target, err);
    if (status == SBPS_OK) status = check_spread(&r, err);
    if (status == SBPS_OK) status = choose_all(&r, priors, err);
    request_close(&r);
    if (status == SBPS_OK) status = posterior_set_priors(target, priors, err);
    if (status == SBPS_OK) status = centre(options, target, err);
    free(priors);
    return status;
}

/* ---- shrinkage priors ----
 *
 * A regression becomes one with scales for its shrunk weights, see model/shrinkage/shrink.h.
 * This part selects the weights and computes the likelihood's information on each: with C the
 * inverse Hessian at the mode under the default priors, of precisions q, a weight is N(mode,
 * C_jj) given rows and prior, so that the rows alone have the precision and the linear term
 *
 *   h = 1/C_jj - q,   h b = mode/C_jj.                                                      (1)
 */

#define SHRUNK_SD_MAX 1e7 /* sd of a column under a horseshoe */

bool shrinkage_requested(const sbps_options *o)
{
    prior_list list = {0};
    bool requested = false;
    if (o->prior && prior_list_parse(o->prior, &list, NULL) == SBPS_OK)
        for (size_t i = 0; i < list.count; i++)
            requested |= !list.piece[i].usual && prior_shrinks(&list.piece[i].distribution);
    prior_list_close(&list);
    return requested;
}

/* Refuses models for which shrinkage priors are not available. */
static sbps_status check_model(const posterior *u, sbps_error *err)
{
    if (u->model->row_model)
        return fail(err, SBPS_BAD_ARG,
                    "--prior: shrinkage priors are not available in models with groups; use "
                    "laplace(0,s) or student_t(3,0,s)");
    if (!u->model->predictor)
        return fail(err, SBPS_BAD_ARG,
                    "--prior: shrinkage priors are not available for model %s; use "
                    "laplace(0,s) or student_t(3,0,s)",
                    u->model->name);
    return SBPS_OK;
}

/* The scales of a horseshoe start near 1 whatever the column's unit: chains do not reach 1e-9.
 */
static sbps_status check_unit(const posterior *u, const prior *distribution, size_t j,
                              sbps_error *err)
{
    double sd = u->data->table.sd[j];
    if (strcmp(distribution->kind->name, "horseshoe") || sd <= SHRUNK_SD_MAX) return SBPS_OK;
    return fail(
        err, SBPS_BAD_ARG,
        "--prior: a horseshoe applies to unscaled coefficients, and column '%s' has a standard "
        "deviation of %.2g: use --standardize, or divide the column by a power of ten",
        u->data->table.names ? show_name(u->data->table.names[j]).text : "?", sd);
}

/* Assigns the weights to the pieces of the list. */
static sbps_status assign_columns(prior_list *list, const posterior *u, shrink_shape *s,
                                  sbps_error *err)
{
    char **names = NULL;
    sbps_status status = target_names(u, &names, err);
    for (size_t i = 0; i < list->count; i++) s->block[i].prior = list->piece[i].distribution;
    for (size_t j = u->data->intercept; status == SBPS_OK && j < u->data->d; j++) {
        const prior_piece *piece = prior_list_find(list, names[j]);
        if (!piece || piece->usual || !prior_shrinks(&piece->distribution)) continue;
        if ((status = check_unit(u, &piece->distribution, j, err)) != SBPS_OK) break;
        shrink_block *b = &s->block[piece - list->piece];
        b->column[b->count++] = j;
    }
    free_texts(names, names ? u->dim : 0);
    return status;
}

/* Computes (1), or nothing if there is no mode. */
static sbps_status row_information(const posterior *u, shrink_shape *s, sbps_error *err)
{
    mode *found = NULL;
    size_t d = u->dim;
    if (mode_find(u, NULL, &found, NULL) != SBPS_OK) return SBPS_OK;
    double *x = new_doubles(d);
    bool ready = x && cholesky(d, found->hessian);
    memcpy(s->begin, found->w, d * sizeof *s->begin);
    for (size_t j = 0; ready && j < u->data->d; j++) {
        memset(x, 0, d * sizeof *x);
        x[j] = 1.0;
        cholesky_solve(d, found->hessian, x);
        double by_prior = -prior_curvature(&u->priors[j], u->scale[j], found->w[j]);
        s->row_precision[j] = fmax(1.0 / x[j] - by_prior, 0.0);
        s->place[j] = s->row_precision[j] > 0.0 ? found->w[j] / x[j] : 0.0;
    }
    sbps_status status = x ? SBPS_OK : fail_memory(err);
    free(x);
    mode_destroy(found);
    return status;
}

/* Sets the priors of the coordinates, and those reported. */
static sbps_status set_priors(posterior *u, const prior *of, sbps_error *err)
{
    prior *priors = calloc(u->dim, sizeof *priors);
    u->reported_priors = calloc(u->dim, sizeof *u->reported_priors);
    sbps_status status = priors && u->reported_priors ? SBPS_OK : fail_memory(err);
    for (size_t j = 0; status == SBPS_OK && j < u->dim; j++) {
        priors[j] = shrink_prior(u->self, j, of);
        u->reported_priors[j] = shrink_reported_prior(u->self, j, of);
    }
    if (status == SBPS_OK) status = posterior_set_priors(u, priors, err);
    free(priors);
    return status;
}

/* Creates the posterior with scales; takes ownership of the shape. */
static sbps_status open_shrunk(const posterior *of, shrink_shape *s, posterior **out,
                               sbps_error *err)
{
    const model_shape shape = {.shrunk = s};
    model_kind *kind = malloc(sizeof *kind);
    *out = NULL;
    if (kind) *kind = shrink_kind(of->model);
    sbps_status status =
        kind ? posterior_open(of->data, kind, &shape, out, err) : fail_memory(err);
    if (status != SBPS_OK) {
        free(kind);
        shrink_shape_destroy(s);
        return status;
    }
    (*out)->own = kind;
    return set_priors(*out, of->priors, err);
}

sbps_status shrinkage_apply(const sbps_options *o, posterior **target, sbps_error *err)
{
    posterior *u = *target, *made = NULL;
    prior_list list = {0};
    shrink_shape *s = NULL;
    sbps_status status = SBPS_OK;
    if (!shrinkage_requested(o)) return SBPS_OK;
    status = check_model(u, err);
    if (status == SBPS_OK) status = prior_list_parse(o->prior, &list, err);
    if (status == SBPS_OK && !(s = shrink_shape_create(u->model, u->data->d, list.count)))
        status = fail_memory(err);
    if (status == SBPS_OK) status = assign_columns(&list, u, s, err);
    if (status == SBPS_OK) status = row_information(u, s, err);
    prior_list_close(&list);
    if (status != SBPS_OK) {
        shrink_shape_destroy(s);
        return status;
    }
    s->at_means = u->centred > 0;
    status = open_shrunk(u, s, &made, err);
    if (made) {
        posterior_destroy(u);
        *target = made;
    }
    return status;
}
