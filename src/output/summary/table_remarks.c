/* What `sbps diagnose` remarks: properties of the table and its priors that a reader should know. The numbers are those of the
 * posterior all the same; a longer run changes nothing. */
#include "output/summary/run_checks.h"

const check run_remarks[] = {
    {prior_fights,
     "What came out is a compromise between the two that neither supports. Mostly the prior is "
     "not "
     "about what it was thought to be: an intercept at x = 0 far from all rows, a coefficient "
     "in "
     "other units.",
     "Look at the prior in force (`sbps sample --dry-run`, or the group `model` of the file). "
     "Widen "
     "--prior or --prior-intercept; columns far from 0 want --prior-intercept-at mean or "
     "--standardize.",
     NULL},
    {prior_alone,
     "Their columns are the same in all rows, or several say the same together, as copies do: "
     "the "
     "posterior of each is what its prior made it. What the model says of rows like these is "
     "not "
     "harmed.",
     "Read nothing into them; leave such columns out with --features.", NULL},
    {rows_rule,
     "The numbers are those of the posterior, but one row of the table decides part of them: "
     "taken "
     "away, a parameter would move by so much (\"about\": more than 2 posterior sd, where the "
     "estimate, made without a new fit, is rough). Often such a row is a slip of the keyboard "
     "or "
     "in "
     "other units.",
     "Look at these rows (counted from 1 below the header, without rows that were dropped). If "
     "they "
     "are right, say so with the result; a logarithm of the column often tames them.",
     NULL},
    {groups_rule,
     "The numbers are those of the posterior, but one group of the table decides part of them: "
     "taken away, a parameter would move by so much (\"about\": more than 2 posterior sd, "
     "where the estimate, made without a new fit, is rough). Groups of very many rows do that, "
     "and "
     "groups that are unlike all others.",
     "Look at these groups. If they are right, say so with the result, and say of what kind "
     "of group it is to hold.",
     NULL},
    {NULL, NULL, NULL, NULL},
};
