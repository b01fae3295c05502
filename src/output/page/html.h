/* Text and numbers as HTML has them. */
#ifndef OUTPUT_HTML_H
#define OUTPUT_HTML_H

#include "output/summary/grid.h"

/* Any bytes: what HTML gives a meaning is escaped, control characters become '?', what is no UTF-8 the
 * replacement character. */
void html_text(text *t, const char *bytes);
/* "largest R-hat 1.003": three digits, "unknown" for NAN. */
void html_measure(text *t, double value);
/* 1234567 as 1,234,567; three digits from 1e9 on. */
void html_count(text *t, double count);
/* A cell of the summary, digits as in its table. */
void html_cell(text *t, const sbps_parameter *p, const char *column);
/* <td> with that. */
void html_number(text *t, const sbps_parameter *p, const char *column);
/* <th scope="row"> with the name. */
void html_row_name(text *t, const char *name);

#endif
