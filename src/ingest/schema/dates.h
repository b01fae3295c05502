/* Dates and times as ISO 8601 writes them, to numbers. */
#ifndef INGEST_DATES_H
#define INGEST_DATES_H

#include <stdbool.h>

#define DAY_SECONDS 86400.0

/* 2026-11-15 or 2026/11/15: days since 1970-01-01. */
bool date_read(const char *begin, const char *end, double *days);
/* A date, T or a blank, 10:20 or 10:20:30 or 10:20:30.25, then nothing, Z or an offset from UTC such as
 * +01:00: seconds since 1970-01-01 00:00 UTC. */
bool time_read(const char *begin, const char *end, double *seconds);

#endif
