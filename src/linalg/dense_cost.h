/* What set-up costs by the number of columns: it makes several dense matrices of columns x columns numbers. */
#ifndef LINALG_DENSE_COST_H
#define LINALG_DENSE_COST_H

#include <stdbool.h>

#define SETUP_MATRICES 6 /* held at a time, at most */

/* Bytes of one such matrix, and of all that set-up and a run hold at a time. */
double dense_bytes(double columns);
double setup_bytes(double columns);
/* Whether this machine has that much. */
bool setup_fits(double columns);

#endif
