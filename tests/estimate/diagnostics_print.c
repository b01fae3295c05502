/* Reads "chains draws" and then chains * draws numbers, chain by chain, again and again from
 * the standard input; prints a line of diagnostics for each. For posterior_agreement.R. */
#include "estimate/diagnostics.h"

#include <stdio.h>
#include <stdlib.h>

static int print_one(size_t chains, size_t draws)
{
    int status = EXIT_FAILURE;
    draw_summary s;
    double *x = malloc(chains * draws * sizeof *x);
    if (!x) return status;
    for (size_t i = 0; i < chains * draws; i++)
        if (scanf("%lf", &x[i]) != 1) goto done;
    if (summarize_draws(chains, draws, x, &s, NULL) != SBPS_OK) goto done;
    printf("%.17g %.17g %.17g %.17g %.17g %.17g %.17g %.17g %.17g %.17g\n", s.mean, s.sd, s.q5,
           s.q50, s.q95, s.rhat, s.ess_bulk, s.ess_tail, s.ess_mean, s.mcse_mean);
    status = EXIT_SUCCESS;
done:
    free(x);
    return status;
}

int main(void)
{
    size_t chains, draws;
    while (scanf("%zu %zu", &chains, &draws) == 2)
        if (print_one(chains, draws) != EXIT_SUCCESS) return EXIT_FAILURE;
    return EXIT_SUCCESS;
}
