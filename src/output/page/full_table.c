#include "output/page/html.h"
#include "output/page/sections.h"

void page_everything(text *t, const view *v)
{
    text_add(t,
             "<div class=\"wide\"><table class=\"sortable\"><caption>Summary of all %zu "
             "parameters</caption>\n<thead><tr><th "
             "scope=\"col\">parameter</th>",
             v->r->dim);
    for (const column *c = table_columns; c->name; c++)
        text_add(t, "<th scope=\"col\">%s</th>", c->name);
    text_add(t, "</tr></thead>\n<tbody>\n");
    for (size_t j = 0; j < v->r->dim; j++) {
        text_add(t, "<tr>");
        html_row_name(t, view_name(v, j));
        for (const column *c = table_columns; c->name; c++)
            html_number(t, &v->parameters[j], c->name);
        text_add(t, "</tr>\n");
    }
    text_add(t, "</tbody></table></div>\n");
}
