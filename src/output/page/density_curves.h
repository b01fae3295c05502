/* Densities as curves. */
#ifndef OUTPUT_DENSITY_CURVES_H
#define OUTPUT_DENSITY_CURVES_H

#include "core/text.h"

/* A normal kernel, its width by Silverman's rule (1986, (3.31)): n draws in increasing order, at the points x. */
void kernel_density(size_t n, const double *sorted, size_t count, const double *x, double *out);
/* That of a prior as the run's file spells it, cut to x > 0 where `positive`; false: it has none. */
bool prior_density(const char *prior_text, bool positive, size_t count, const double *x,
                   double *out);

/* "normal(0, 2.5)": its numbers to four digits; as it is where it is no prior of ours. */
void prior_brief(text *t, const char *prior_text);

#endif
