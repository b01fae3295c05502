/* Prints the names of a draw_summary. Then reads "chains draws" and then chains * draws
 * numbers, chain by chain, again and again from the standard input; prints a line of
 * diagnostics for each. For posterior_agreement.R. */
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
#define PRINT(field) printf("%.17g ", s.field);
    DRAW_SUMMARY(PRINT)
    printf("\n");
    status = EXIT_SUCCESS;
done:
    free(x);
    return status;
}

int main(void)
{
    size_t chains, draws;
#define PRINT_NAME(field) printf("%s ", #field);
    DRAW_SUMMARY(PRINT_NAME)
    printf("\n");
    while (scanf("%zu %zu", &chains, &draws) == 2)
        if (print_one(chains, draws) != EXIT_SUCCESS) return EXIT_FAILURE;
    return EXIT_SUCCESS;
}
