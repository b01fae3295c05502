/* Checks for other programs: every number. */
#include "core/json.h"
#include "output/check/check_parts.h"

static void member(text *t, const char *key, double value)
{
    text_add(t, ", \"%s\": ", key);
    json_number(t, value);
}

static void member_text(text *t, const char *before, const char *key, const char *value)
{
    text_add(t, "%s\"%s\": ", before, key);
    if (value)
        json_string(t, value);
    else
        text_add(t, "null");
}

static void member_switch(text *t, const char *key, bool value)
{
    text_add(t, ", \"%s\": %s", key, value ? "true" : "false");
}

static void json_cell(text *t, const check_cell *c)
{
    member_text(t, "{", "label", c->label);
    member(t, "from", c->from);
    member(t, "to", c->to);
    member(t, "rows", (double)c->rows);
    member(t, "observed", c->observed);
    member(t, "expected", c->expected);
    member(t, "low", c->low);
    member(t, "high", c->high);
    member(t, "z", c->z);
    text_add(t, "}");
}

static void json_panels(text *t, const char *key, const check_panels *all)
{
    text_add(t, ",\n \"%s\": [", key);
    for (size_t k = 0; k < all->count; k++) {
        const check_panel *p = &all->panel[k];
        member_text(t, k ? ",\n  {" : "\n  {", "of", p->of);
        member_text(t, ", ", "class", p->class);
        member(t, "p", p->p);
        member(t, "bend", p->trend_z);
        member(t, "worst", (double)p->worst);
        member_switch(t, "off", p->off);
        text_add(t, ", \"cells\": [");
        for (size_t c = 0; c < p->count; c++) {
            text_add(t, c ? ",\n    " : "\n    ");
            json_cell(t, &p->cell[c]);
        }
        text_add(t, "]}");
    }
    text_add(t, "]");
}

static void json_statistics(text *t, const predictive_checks *c)
{
    text_add(t, ",\n \"statistics\": [");
    for (size_t k = 0; k < c->statistics; k++) {
        const check_statistic *s = &c->statistic[k];
        member_text(t, k ? ",\n  {" : "\n  {", "name", s->name);
        member(t, "observed", s->observed);
        member(t, "mean", s->mean);
        member(t, "sd", s->sd);
        member(t, "low", s->low);
        member(t, "high", s->high);
        member(t, "p", s->p);
        member_switch(t, "off", s->off);
        text_add(t, "}");
    }
    text_add(t, "]");
}

static void json_pit(text *t, const check_pit *p)
{
    text_add(t, ",\n \"pit\": {\"rows\": %zu", p->rows);
    member(t, "ks", p->ks);
    member(t, "p", p->p);
    member_switch(t, "off", p->off);
    member(t, "mean_z", p->mean_z);
    member(t, "spread_z", p->spread_z);
    member(t, "khat_above", (double)p->untrusted);
    member(t, "low", p->low);
    member(t, "high", p->high);
    text_add(t, ", \"bars\": [");
    for (size_t k = 0; k < PIT_BARS; k++) {
        if (k) text_add(t, ", ");
        json_number(t, p->bar[k]);
    }
    text_add(t, "]}");
}

static void json_sensitivity(text *t, const predictive_checks *c)
{
    text_add(t, ",\n \"sensitivity\": [");
    for (size_t k = 0; k < c->sensitivities; k++) {
        const check_sensitivity *s = &c->sensitivity[k];
        member_text(t, k ? ",\n  {" : "\n  {", "parameter", s->name);
        member_text(t, ", ", "of", s->prior);
        member(t, "prior", s->by_prior);
        member(t, "likelihood", s->by_likelihood);
        member_text(t, ", ", "diagnosis", s->diagnosis);
        text_add(t, "}");
    }
    text_add(t, "]");
}

static void json_findings(text *t, const predictive_checks *c)
{
    text_add(t, "{\"findings\": [");
    for (size_t k = 0; k < c->findings; k++) {
        member_text(t, k ? ",\n  {" : "\n  {", "seen", c->finding[k].seen);
        member_text(t, ", ", "remedy", c->finding[k].remedy);
        text_add(t, "}");
    }
    text_add(t, "]");
}

void checks_json(const predictive_checks *c, text *t)
{
    json_findings(t, c);
    text_add(t, ",\n \"checks\": %zu, \"checks_off\": %zu", checks_count(c), checks_off(c));
    member_text(t, ", ", "model", c->model);
    member_text(t, ", ", "target", c->target);
    member(t, "rows", (double)c->rows);
    member(t, "rows_looked_at", (double)c->checked);
    member(t, "rows_left_out", (double)c->lacking);
    if (c->rows > 0) identity_json(t, c->identity);
    member(t, "draws", (double)c->draws);
    member(t, "replicates", (double)c->replicates);
    member(t, "negative_binomial_zeros", c->negative_binomial_zeros);
    member(t, "likelihood_noise", c->likelihood_noise);
    json_statistics(t, c);
    json_panels(t, "calibration", &c->calibration);
    json_panels(t, "rootogram", &c->rootogram);
    json_panels(t, "density", &c->density);
    json_panels(t, "spread", &c->spread);
    json_panels(t, "residuals", &c->residuals);
    json_pit(t, &c->pit);
    json_sensitivity(t, c);
    text_add(t, "}\n");
}
