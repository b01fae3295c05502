#include "output/page/density_curves.h"
#include "output/page/html.h"
#include "output/page/plot.h"
#include "output/page/sections.h"

#include <math.h>
#include <string.h>

enum { WIDTH = 260, HEIGHT = 110, POINTS = 64 };

static const char *label_at(char *const *labels, size_t j)
{
    return labels && labels[j] ? labels[j] : "";
}

/* Parameters beside the columns, such as sigma, are positive where all draws are. */
static bool is_positive(const view *v, size_t j, const double *sorted)
{
    return !*label_at(v->r->column, j) && !strstr(view_name(v, j), "ntercept") &&
           sorted[0] > 0.0;
}

static bool is_of_parameter(const view *v, size_t j)
{
    return !strcmp(label_at(v->r->prior_of, j), "the parameter");
}

static void draw_density(text *t, const view *v, size_t j)
{
    double x[POINTS], posterior_curve[POINTS], prior_curve[POINTS], top = 0.0;
    size_t n = view_draws(v);
    const double *sorted = view_sorted(v, j);
    plot p = {t,
              WIDTH,
              HEIGHT,
              {.low = sorted[0], .high = sorted[n - 1], .from = 6, .to = WIDTH - 6},
              {.from = HEIGHT - 20, .to = 6}};
    for (size_t k = 0; k < POINTS; k++)
        x[k] = p.x.low + (p.x.high - p.x.low) * (double)k / (POINTS - 1);
    kernel_density(n, sorted, POINTS, x, posterior_curve);
    bool known = is_of_parameter(v, j) &&
                 prior_density(label_at(v->r->prior, j), is_positive(v, j, sorted), POINTS, x,
                               prior_curve);
    for (size_t k = 0; k < POINTS; k++) top = fmax(top, posterior_curve[k]);
    p.y.high = 1.05 * top;
    plot_open(&p, "plot", "Posterior density of %s, from %.4g to %.4g%s", view_name(v, j),
              p.x.low, p.x.high, known ? ", and that of its prior" : "");
    plot_area(&p, "posterior", POINTS, x, posterior_curve);
    if (known) plot_curve(&p, "prior", POINTS, x, prior_curve);
    plot_x_axis(&p, 5, NULL);
    plot_close(&p);
}

static void add_caption(text *t, const view *v, size_t j)
{
    const char *prior_text = label_at(v->r->prior, j);
    text_add(t, "<figcaption><b>");
    html_text(t, view_name(v, j));
    text_add(t, "</b>");
    if (*prior_text) {
        text_add(t, "<small> prior ");
        prior_brief(t, prior_text);
        if (!is_of_parameter(v, j)) {
            text_add(t, " of ");
            html_text(t, label_at(v->r->prior_of, j));
        }
        text_add(t, "</small>");
    }
    text_add(t, "</figcaption>");
}

void page_densities(text *t, const view *v)
{
    size_t count = v->clearest_count < MAX_DENSITIES ? v->clearest_count : MAX_DENSITIES;
    text_add(t, "<p>The <span class=\"key posterior\">posterior</span> of each parameter where "
                "its draws lie, and the <span "
                "class=\"key prior\">prior</span> there: a flat line along the bottom says "
                "that the rows decide.");
    if (count < v->r->dim)
        text_add(t, " Shown are the %zu of %zu parameters farthest from 0 in posterior sd.",
                 count, v->r->dim);
    text_add(t, "</p>\n<div class=\"cards small\">\n");
    for (size_t i = 0; i < count; i++) {
        text_add(t, "<figure>");
        add_caption(t, v, v->clearest[i]);
        draw_density(t, v, v->clearest[i]);
        text_add(t, "</figure>\n");
    }
    text_add(t, "</div>\n");
}
