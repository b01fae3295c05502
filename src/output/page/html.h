/* Text, numbers and table cells in HTML, and the style sheet and scripts of a page. */
#ifndef OUTPUT_HTML_H
#define OUTPUT_HTML_H

#include "output/summary/summary.h"

/* Appends any bytes as text: characters with a meaning in HTML are escaped, control characters
 * become '?', and bytes that are not UTF-8 become U+FFFD. */
void html_text(text *t, const char *bytes);
/* Appends a number with three digits; "unknown" for NAN. */
void html_measure(text *t, double value);
/* Appends 1234567 as 1,234,567; with three digits from 1e9 on. */
void html_count(text *t, double count);
/* Appends a value of the summary, with the digits of the summary table. */
void html_cell(text *t, const sbps_parameter *p, const char *column);
/* The same in a <td>. */
void html_number(text *t, const sbps_parameter *p, const char *column);
/* Appends <th scope="row"> with the name. */
void html_row_name(text *t, const char *name);

/* Files of this folder and of uPlot, which the build embeds as zero-terminated text
 * (cmake/Embed.cmake). Those of uPlot are empty in a build without it (cmake/Uplot.cmake). */
extern const char page_css[], page_js[], live_js[], uplot_js[], uplot_css[];

#endif
