/* Draws as CSV: one table, or CmdStan's layout. */
#ifndef STORE_RESULT_CSV_H
#define STORE_RESULT_CSV_H

#include "store/result.h"

/* Writes one table, chain,draw,<names...>, atomically. */
sbps_status result_write_csv(const result *r, const char *path, sbps_error *err);
/* Writes one file per chain in CmdStan's layout: run.stan.csv -> run.stan_1.csv, ... */
sbps_status result_write_stan(const result *r, const char *path, sbps_error *err);

#endif
