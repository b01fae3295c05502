/* sbps simulate: a synthetic table by the paper's recipe. */
#include "cli/cli.h"
#include "cli/file_conflicts.h"
#include <stdlib.h>

enum { ROWS_USUAL = 1000, DIM_USUAL = 20, SEED_USUAL = 1 };

static int simulate_run(const arguments *args)
{
    size_t rows, dim, seed;
    const char *path = flag_value(args, "output", NULL),
               *truth = flag_value(args, "truth", NULL);
    if (!flag_count_value(args, "rows", ROWS_USUAL, 1, &rows) ||
        !flag_count_value(args, "dim", DIM_USUAL, 1, &dim) ||
        !flag_count_value(args, "seed", SEED_USUAL, 0, &seed))
        return CODE_USAGE;
    if (!path) {
        complain("simulate: -o FILE is missing: where shall the table go?");
        return CODE_USAGE;
    }
    sbps_error err = {0};
    sbps_status status = files_check(args, NULL, NULL, &err);
    bool made = flag_is_on(args, "generate");
    if (status == SBPS_OK)
        status = (made ? sbps_generate : sbps_simulate)(args->operands[0], rows, dim, seed,
                                                        path, truth, &err);
    return report_status(status, &err);
}

static const sbps_option_info simulate_flags[] = {
    {"rows", "N", "1000", "Options", "Rows of the table."},
    {"dim", "D", "20", "Options", "Features of a row."},
    {"seed", "S", "1", "Options", "Seed: the same seed gives the same file."},
    {"generate", NULL, "", "Options",
     "The rows that `sample --generate N` makes, to the last bit, in the place of the "
     "paper's."},
    {"output", "FILE", "", "Options", "Where the table goes, as CSV. Required."},
    {"truth", "FILE", "", "Options", "Where the weights that made it go, as CSV: name,value."},
};

const command command_simulate = {
    .name = "simulate",
    .operands = "NAME --rows N --dim D --seed S -o FILE [--truth FILE]",
    .summary = "Write a synthetic table whose weights are known.",
    .detail =
        "NAME is a model that can simulate, such as logistic; `sbps list models` names the "
        "models.",
    .min_operands = 1,
    .max_operands = 1,
    .why = "the model's name is missing: want `sbps simulate NAME -o FILE`",
    .flags = simulate_flags,
    .flag_count = sizeof simulate_flags / sizeof *simulate_flags,
    .outputs = (const char *const[]){"output", "truth", NULL},
    .run = simulate_run,
};
