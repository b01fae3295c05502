/* The summary as CSV (RFC 4180, lines end with a line feed alone): ten digits, NaN as NaN. */
#include "report/fields.h"
#include "report/summary.h"

#include <math.h>

static void add_number(text *t, double value)
{
    if (isnan(value))
        text_add(t, ",NaN");
    else if (isinf(value))
        text_add(t, value > 0.0 ? ",Inf" : ",-Inf");
    else
        text_add(t, ",%.10g", value + 0.0); /* -0 becomes 0 */
}

void write_csv(text *t, const result *r, const sbps_parameter *parameters)
{
    text_add(t, "name");
    for (const column *c = table_columns; c->name; c++) text_add(t, ",%s", c->name);
    text_add(t, "\n");
    for (size_t j = 0; j < r->dim; j++) {
        text_csv_field(t, parameters[j].name);
        for (const column *c = table_columns; c->name; c++)
            add_number(t, column_value(c, &parameters[j]));
        text_add(t, "\n");
    }
}
