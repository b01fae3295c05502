/* The choice depends on the targets of all ranks, so that ranks choose the same family. */
#include "inference/options/family_choice.h"

#include "core/printable.h"
#include "core/text.h"
#include "ingest/formula/formula.h"
#include "table/row_partition.h"

#include <stdlib.h>

#define NAMED_MAX 5 /* labels in a message */

/* True if all targets are 0 or 1 and both occur, on any rank. */
static bool is_binary(const rows *r)
{
    bool zero = false, one = false, other = false;
    for (size_t i = 0; i < r->local_rows && !other; i++) {
        zero = zero || r->y[i] == 0.0;
        one = one || r->y[i] == 1.0;
        other = r->y[i] != 0.0 && r->y[i] != 1.0;
    }
    zero = any_rank(r, zero);
    one = any_rank(r, one);
    return !any_rank(r, other) && zero && one;
}

static sbps_status fail_classes(const rows *r, sbps_error *err)
{
    text list = {0};
    for (size_t k = 0; k < r->table.label_count && k < NAMED_MAX; k++)
        text_add(&list, "%s'%s'", k ? ", " : "", show_name(r->table.labels[k]).text);
    char *labels = text_take(&list);
    sbps_status status =
        labels ? fail(err, SBPS_BAD_ARG,
                      "the target '%s' has %zu labels (%s%s): choose --family categorical, or "
                      "--family cumulative if they are ordered",
                      show_name(r->table.target ? r->table.target : "label").text,
                      r->table.label_count, labels,
                      r->table.label_count > NAMED_MAX ? ", ..." : "")
               : fail_memory(err);
    free(labels);
    return status;
}

bool family_has_trials(const sbps_options *options)
{
    sbps_error ignored;
    formula *f;
    if (options->trials && *options->trials) return true;
    if (!options->formula || !*options->formula) return false;
    if (formula_parse(options->formula, &f, &ignored) != SBPS_OK) return false;
    bool has = f->trials || f->failures;
    formula_destroy(f);
    return has;
}

sbps_status family_choose(sbps_options *options, const rows *data, const char **why,
                          sbps_error *err)
{
    const rows *r = data->member_rows ? data->member_rows : data;
    *why = NULL;
    if ((options->model && *options->model) || options->function.rows || !r->y ||
        r->storage.recipe)
        return SBPS_OK;
    if (family_has_trials(options)) {
        *why = "binomial, because the target counts successes among trials";
        return options_set(options, "family", "binomial", err);
    }
    if (r->table.label_count > 2) return fail_classes(r, err);
    if (r->table.label_count > 0) {
        *why = "bernoulli, because the target has labels";
        return options_set(options, "family", "bernoulli", err);
    }
    if (is_binary(r)) {
        *why = "bernoulli, because all targets are 0 or 1; --family gaussian takes them as "
               "numbers";
        return options_set(options, "family", "bernoulli", err);
    }
    *why = "gaussian, because the target holds numbers";
    return options_set(options, "family", "gaussian", err);
}
