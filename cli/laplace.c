/* sbps laplace: the normal approximation at the mode. */
#include "cli/inputs.h"

static sbps_status report_laplace(const sbps_mode *mode, sbps_format format, char **out,
                                  sbps_error *err)
{
    sbps_laplace *laplace = NULL;
    sbps_status status = sbps_laplace_create(mode, &laplace, err);
    if (status == SBPS_OK) status = sbps_laplace_report(laplace, format, out, err);
    sbps_laplace_destroy(laplace);
    return status;
}

static int laplace_run(const arguments *args)
{
    return mode_command(args, report_laplace);
}

const command command_laplace = {
    .name = "laplace",
    .operands = "DATA... [FORMULA] --model NAME [--csv|--json] [-o FILE] [options]",
    .summary = "Approximate the posterior by a normal at its mode.",
    .detail =
        "Tells mean and sd of each parameter, their covariance, and the distribution of the "
        "negative log-likelihood per row, NLL/N at the mode plus chi^2(d)/2N. Positive "
        "parameters are approximated on the log scale: log(sigma).\n\n"
        "  sbps laplace flights.csv --model logistic --target delayed -o normal.csv\n"
        "  sbps sample flights.csv --model logistic --target delayed --start normal.csv",
    .max_operands = SIZE_MAX,
    .flags = mode_flags,
    .flag_count = MODE_FLAGS,
    .outputs = mode_outputs,
    .library_options = true,
    .by_ranks = true,
    .run = laplace_run,
};
