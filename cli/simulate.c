/* sbps simulate: writes a synthetic table, by the recipe of the paper. */
#include "cli/output.h"
#include <stdlib.h>

/* Defaults of --rows, --dim and --seed. */
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
        print_message("simulate: name the output file: -o FILE");
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
    {"rows", "N", "1000", "Options", "Number of rows."},
    {"dim", "D", "20", "Options", "Number of features."},
    {"seed", "S", "1", "Options", "Seed: the same seed gives the same file."},
    {"generate", NULL, "", "Options",
     "Write exactly the rows that `sample --generate N` uses, instead of those of the paper."},
    {"output", "FILE", "", "Options", "Write the table to FILE as CSV. Required."},
    {"truth", "FILE", "", "Options", "Write the true weights to FILE as CSV: name,value."},
};

const command command_simulate = {
    .name = "simulate",
    .operands = "NAME --rows N --dim D --seed S -o FILE [--truth FILE]",
    .summary = "Write a synthetic table with known weights.",
    .detail = "NAME is a model that can simulate, such as logistic; `sbps list models` lists "
              "the models.",
    .min_operands = 1,
    .max_operands = 1,
    .missing = "the name of a model is missing; usage: sbps simulate NAME -o FILE",
    .flags = simulate_flags,
    .flag_count = sizeof simulate_flags / sizeof *simulate_flags,
    .outputs = (const char *const[]){"output", "truth", NULL},
    .run = simulate_run,
};
