/* Names and numbers as JSON spells them. */
#ifndef REPORT_FIELDS_H
#define REPORT_FIELDS_H

#include "report/text.h"

void json_string(text *t, const char *string);
/* Gives the same double back; null for what JSON cannot write. */
void json_number(text *t, double x);

#endif
