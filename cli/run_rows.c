/* Operands RUN... [DATA]. */
#include "cli/run_rows.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* True if the file begins as a NetCDF file does: that of a run. */
static bool is_run(const char *path)
{
    char begin[4] = "";
    FILE *from = strcmp(path, "-") ? fopen(path, "rb") : NULL;
    size_t got = from ? fread(begin, 1, sizeof begin, from) : 0;
    if (from) fclose(from);
    return got == sizeof begin && (!memcmp(begin, "\x89HDF", 4) || !memcmp(begin, "CDF", 3));
}

sbps_status run_operands(const arguments *args, size_t max_runs, size_t *runs, sbps_error *err)
{
    const char *who = args->command->name, *last = args->operands[args->operand_count - 1];
    size_t count = args->operand_count;
    bool swapped = count > 1 && is_run(last) && access(args->operands[0], R_OK) == 0 &&
                   !is_run(args->operands[0]);
    *runs = max_runs == 1 || (count > 1 && !is_run(last) && access(last, R_OK) == 0) ? count - 1
                                                                                     : count;
    if (*runs == 0 || max_runs == 1) *runs = 1;
    if (!swapped) return SBPS_OK;
    return set_error(err, SBPS_BAD_ARG,
                     "%s: runs come before the data, as in sbps %s %.200s %.200s", who, who,
                     last, args->operands[0]);
}

/* The file that the run records; fails if there is none, or it cannot be read. */
static sbps_status recorded_rows(const arguments *args, const sbps_result *first,
                                 const char **out, sbps_error *err)
{
    const char *who = args->command->name, *run = args->operands[0];
    *out = sbps_result_data(first);
    if (!*out || !**out || !strcmp(*out, "-"))
        return set_error(err, SBPS_BAD_ARG,
                         "%s: %.200s does not record the file of its data: name it, as in sbps "
                         "%s %.200s DATA.csv",
                         who, run, who, run);
    if (access(*out, R_OK) == 0) return SBPS_OK;
    return set_error(
        err, SBPS_NO_FILE,
        "%s: %.200s records the data file '%.200s', which cannot be read (%s): name "
        "the file, as in sbps %s %.200s DATA.csv",
        who, run, *out, strerror(errno), who, run);
}

sbps_status run_rows(const arguments *args, size_t runs, const sbps_result *first,
                     const char **out, sbps_error *err)
{
    const char *named = runs < args->operand_count ? args->operands[runs] : NULL;
    const char *option = flag_value(args, "data", NULL);
    *out = named ? named : option;
    if (named && option)
        return set_error(
            err, SBPS_BAD_ARG,
            "%s: the data are named twice, as '%.200s' and by --data: leave one out",
            args->command->name, named);
    return *out ? SBPS_OK : recorded_rows(args, first, out, err);
}
