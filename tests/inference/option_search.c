/* The cost of finding an option by its name. */
#include "check.h"
#include "inference/options/option_table.h"
#include "model/likelihood/model.h"

static size_t
    comparisons; /* calls of strcmp, which the linker replaces by the function below */

int __real_strcmp(const char *a, const char *b);
int __wrap_strcmp(const char *a, const char *b);
int __wrap_strcmp(const char *a, const char *b)
{
    comparisons++;
    return __real_strcmp(a, b);
}

/* Some more for names of auxiliary parameters that several models have. */
TEST(finding_an_option_compares_its_name_with_each_name_once)
{
    const size_t limit = option_count() + MODEL_AUXILIARIES_MAX * MODEL_AUXILIARIES_MAX;
    for (size_t i = 0; i < option_count(); i++) {
        const option_spec spec = option_at(i);
        comparisons = 0;
        CHECK(option_find(spec.name) == i);
        CHECK(comparisons > 0 && comparisons <= limit);
    }
    comparisons = 0;
    CHECK(option_find("no-such-option") == option_count());
    CHECK(comparisons <= 2 * limit);
}

CHECK_MAIN
