/* Names and numbers as CSV and JSON spell them. */
#ifndef REPORT_FIELDS_H
#define REPORT_FIELDS_H

#include "report/text.h"

/* Quoted as RFC 4180 asks when it must be. */
void csv_field(text *t, const char *bytes);
void json_string(text *t, const char *string);
/* Gives the same double back; null for what JSON cannot write. */
void json_number(text *t, double x);

#endif
