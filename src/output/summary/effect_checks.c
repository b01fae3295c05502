/* Checks of the effects of groups, all at once: those among the parameters (--ranef all), or those that the run summarised
 * and did not keep. */
#include "output/summary/run_checks.h"

#include <math.h>
#include <string.h>

#define DRAWS_LIMIT 300.0 /* ESS of the stored draws, as of a parameter */

bool is_group_effect(const result *r, const char *name)
{
    bool groups = r->info.formula && strchr(r->info.formula, '|');
    return groups && name && strncmp(name, "r_", 2) == 0 && strchr(name, '[');
}

static void see_stored(evidence *e)
{
    const result *r = e->r;
    effect_check c = {0};
    for (size_t j = e->count; j < r->dim; j++)
        effect_check_add(&c, j, e->parameters[j].rhat, e->parameters[j].ess_bulk,
                         e->parameters[j].ess_tail);
    e->effects = (effects_seen){.count = c.count,
                                .undefined = c.undefined,
                                .rhat = c.rhat,
                                .ess = c.ess,
                                .mean_ess = effect_check_mean_ess(&c),
                                .rhat_of = r->names[c.rhat_at],
                                .ess_of = r->names[c.ess_at]};
}

static void see_recorded(evidence *e)
{
    const result_info *info = &e->r->info;
    e->effects = (effects_seen){.count = (size_t)info->effects_checked,
                                .undefined = (size_t)fmax(info->effects_undefined, 0.0),
                                .rhat = info->effects_rhat,
                                .ess = info->effects_ess,
                                .mean_ess = info->effects_mean_ess,
                                .rhat_of = info->effects_rhat_of ? info->effects_rhat_of : "",
                                .ess_of = info->effects_ess_of ? info->effects_ess_of : ""};
}

evidence evidence_of(const result *r, const sbps_parameter *parameters)
{
    evidence e = {.r = r, .parameters = parameters, .count = r->dim};
    while (e.count > 0 && is_group_effect(r, r->names[e.count - 1])) e.count--;
    if (e.count < r->dim)
        see_stored(&e);
    else if (r->info.effects_checked >= 1.0)
        see_recorded(&e);
    e.effects.rhat_limit = effect_rhat_limit(e.effects.count, e.effects.mean_ess, r->chains);
    e.effects.ess_limit = effect_ess_limit(e.effects.count, DRAWS_LIMIT);
    return e;
}

bool effects_disagree(const evidence *e, text *seen)
{
    const effects_seen *s = &e->effects;
    text_add(seen,
             "The chains disagree about group effects: of %zu effects the largest R-hat is "
             "%.4g (",
             s->count, s->rhat);
    text_name(seen, s->rhat_of ? s->rhat_of : "");
    text_add(seen, "), the limit for so many is %.4g", s->rhat_limit);
    if (s->undefined) text_add(seen, "; %zu have no R-hat", s->undefined);
    return s->count > 0 && (s->rhat > s->rhat_limit || s->undefined > 0);
}

bool effects_few(const evidence *e, text *seen)
{
    const effects_seen *s = &e->effects;
    text_add(seen,
             "The draws of group effects are worth few independent ones: of %zu effects the "
             "smallest effective sample size is %.0f (",
             s->count, s->ess);
    text_name(seen, s->ess_of ? s->ess_of : "");
    text_add(seen, "), the limit for so many is %.0f", s->ess_limit);
    return s->count > 0 && s->ess < s->ess_limit;
}

void effects_summary(const evidence *e, text *t)
{
    const effects_seen *s = &e->effects;
    text_add(t, "%zu group effects: largest R-hat %.4g (", s->count, s->rhat);
    text_name(t, s->rhat_of ? s->rhat_of : "");
    text_add(t, "; limit %.4g), smallest ESS %.0f (", s->rhat_limit, s->ess);
    text_name(t, s->ess_of ? s->ess_of : "");
    text_add(t, "; limit %.0f)", s->ess_limit);
}
