/* Section: checks of the model against replicated tables. First the findings in words, then
 * charts. A dot or a bar is an observed value, the grey line behind it contains 95 % of the
 * replicated tables; values outside have another colour. */
#include "core/printable.h"
#include "output/page/html.h"
#include "output/page/page_table.h"

#include <math.h>
#include <stdio.h>

enum { WIDTH = 340, HEIGHT = 200, MAX_PANELS = 12, MAX_CLASSES = 6, LABELLED_CELLS = 6 };

/* ---- words ---- */

/* List of findings, each with its remedy. */
static void add_misfits(text *t, const predictive_checks *c)
{
    if (c->findings == 0) {
        text_add(t, "<p><strong>No misfit was found.</strong> ");
        return;
    }
    text_add(t, "<ol class=\"findings\">\n");
    for (size_t k = 0; k < c->findings; k++) {
        text_add(t, "<li><p><strong>");
        html_text(t, c->finding[k].seen);
        text_add(t, ".</strong></p><p><em>What to do:</em> ");
        html_text(t, c->finding[k].remedy);
        text_add(t, ".</p></li>\n");
    }
    text_add(t, "</ol>\n<p>");
}

/* Findings, numbers of rows and tables, and the meaning of the charts. */
static void add_overview(text *t, const predictive_checks *c)
{
    if (c->identity == ROWS_OTHER)
        text_add(t, "<p><strong>These rows are not the table of this run</strong>: they are "
                    "checked as new rows, without leave-one-out.</p>\n");
    add_misfits(t, c);
    html_count(t, (double)c->checked);
    text_add(t, " rows");
    if (c->checked + c->lacking < c->rows) {
        text_add(t, " of ");
        html_count(t, (double)c->rows);
        text_add(t, ", drawn at random,");
    }
    text_add(
        t,
        " are compared with %zu tables replicated from the posterior predictive distribution. "
        "Dots and bars are observed values; the <span class=\"key made\">grey</span> range "
        "contains 95 %% of the replicated tables; values in <span class=\"key off\">this "
        "colour</span> are outside.</p>\n",
        c->replicates);
}

/* Table of statistics with their replicated intervals and p. */
static void add_statistics(text *t, const predictive_checks *c)
{
    if (c->statistics == 0) return;
    text_add(t, "<div class=\"wide\"><table><caption>Statistics of the rows and of replicated "
                "tables</caption>\n<thead><tr><th scope=\"col\">statistic</th>"
                "<th scope=\"col\">observed</th><th scope=\"col\">replicated</th>"
                "<th scope=\"col\">2.5 %%</th><th scope=\"col\">97.5 %%</th>"
                "<th scope=\"col\">p</th></tr></thead>\n<tbody>\n");
    for (size_t k = 0; k < c->statistics; k++) {
        const check_statistic *s = &c->statistic[k];
        text_add(t,
                 "<tr><th scope=\"row\">%s</th><td>%.4g</td><td>%.4g</td><td>%.4g</td>"
                 "<td>%.4g</td>",
                 s->name, s->observed, s->mean, s->low, s->high);
        if (isnan(s->p))
            text_add(t, "<td>-</td></tr>\n");
        else
            text_add(t, "<td%s>%.3f</td></tr>\n", s->off ? " class=\"high\"" : "", s->p);
    }
    text_add(t, "</tbody></table></div>\n");
}

/* ---- cells as dots in front of intervals ---- */

/* Extends an axis to a finite value. */
static void widen(axis *a, double value)
{
    if (!isfinite(value)) return;
    a->low = fmin(a->low, value);
    a->high = fmax(a->high, value);
}

/* Limits of the y axis: all values and intervals with a margin. */
static void find_heights(const check_panel *p, axis *y)
{
    y->low = INFINITY;
    y->high = -INFINITY;
    for (size_t k = 0; k < p->count; k++) {
        widen(y, p->cell[k].observed);
        widen(y, p->cell[k].low);
        widen(y, p->cell[k].high);
    }
    double margin = 0.06 * (y->high - y->low);
    y->low -= margin;
    y->high += margin;
}

typedef double (*cell_place)(const check_panel *p, size_t k);

static double by_expected(const check_panel *p, size_t k)
{
    return p->cell[k].expected;
}

/* The middle of a cell; for a level its number. */
static double by_middle(const check_panel *p, size_t k)
{
    return 0.5 * (p->cell[k].from + p->cell[k].to);
}

/* Shortened names of levels, if they fit. */
static void add_labels(const plot *p, const check_panel *of)
{
    for (size_t k = 0; k < of->count && of->count <= LABELLED_CELLS; k++) {
        if (!of->cell[k].label) continue;
        text_add(p->t, "<text class=\"mid\" x=\"%.1f\" y=\"%.1f\">",
                 axis_place(&p->x, by_middle(of, k)), p->y.from + 13.0);
        html_text(p->t, show_brief(of->cell[k].label, 9).text);
        text_add(p->t, "</text>");
    }
}

/* Chart of the cells of a panel as dots; `diagonal` draws y = x instead of 0. */
static void draw_dots(text *t, const check_panel *of, cell_place place, bool diagonal,
                      const char *title)
{
    plot p = {t,
              WIDTH,
              HEIGHT,
              {.low = INFINITY, .high = -INFINITY, .from = 44, .to = WIDTH - 12},
              {.from = HEIGHT - 22, .to = 8}};
    bool named = of->count > 0 && of->cell[0].label;
    find_heights(of, &p.y);
    for (size_t k = 0; k < of->count; k++) widen(&p.x, place(of, k));
    if (named || !(p.x.high > p.x.low)) p.x.low -= 0.5, p.x.high += 0.5;
    plot_open(&p, "plot", "%s: %zu cells, p = %.3f", title, of->count, of->p);
    plot_y_axis(&p, 6);
    plot_x_axis(&p, named ? 0 : 5, NULL);
    if (named) add_labels(&p, of);
    if (diagonal)
        plot_curve(&p, "expected", 2, (double[]){p.x.low, p.x.high},
                   (double[]){p.x.low, p.x.high});
    else if (p.y.low < 0.0 && p.y.high > 0.0)
        plot_level(&p, "expected", 0.0);
    for (size_t k = 0; k < of->count; k++) {
        const check_cell *c = &of->cell[k];
        double at = axis_place(&p.x, place(of, k));
        text_add(p.t, "<path class=\"made\" d=\"M%.1f %.1fV%.1f\"/>", at,
                 axis_place(&p.y, c->low), axis_place(&p.y, c->high));
        text_add(p.t, "<circle class=\"%s\" cx=\"%.1f\" cy=\"%.1f\" r=\"3\"/>",
                 (c->observed < c->low || c->observed > c->high) ? "seen off" : "seen", at,
                 axis_place(&p.y, c->observed));
    }
    plot_close(&p);
}

/* ---- bars ---- */

typedef struct {
    double from, to, height, low, high, expected;
} bar;

/* A bar with its replicated interval and expected height. */
static void draw_bar(const plot *p, const bar *b)
{
    double left = axis_place(&p->x, b->from), width = axis_place(&p->x, b->to) - left;
    bool off = b->height < b->low || b->height > b->high;
    text_add(p->t, "<path class=\"%s\" d=\"M%.1f %.1fV%.1fh%.1fV%.1fz\"/>",
             off ? "column off" : "column", left, p->y.from, axis_place(&p->y, b->height),
             width, p->y.from);
    text_add(p->t, "<path class=\"made\" d=\"M%.1f %.1fV%.1f\"/>", left + 0.5 * width,
             axis_place(&p->y, b->low), axis_place(&p->y, b->high));
    text_add(p->t, "<path class=\"level\" d=\"M%.1f %.1fh%.1f\"/>", left,
             axis_place(&p->y, b->expected), width);
}

/* Chart of bars. */
static void draw_bars(text *t, const bar *bars, size_t count, const char *title)
{
    plot p = {t,
              WIDTH,
              HEIGHT,
              {.low = INFINITY, .high = -INFINITY, .from = 44, .to = WIDTH - 12},
              {.low = 0.0, .from = HEIGHT - 22, .to = 8}};
    for (size_t k = 0; k < count; k++) {
        widen(&p.x, bars[k].from);
        widen(&p.x, bars[k].to);
        p.y.high = fmax(p.y.high, 1.05 * fmax(bars[k].height, bars[k].high));
    }
    plot_open(&p, "plot", "%s", title);
    plot_y_axis(&p, 6);
    plot_x_axis(&p, 5, NULL);
    for (size_t k = 0; k < count; k++) draw_bar(&p, &bars[k]);
    plot_close(&p);
}

enum { MAX_BARS = 64 };

/* Square roots of numbers of rows, whose variances are equal: Tukey's rootogram, standing. */
static bar root_bar(const check_cell *c)
{
    return (bar){c->from,      c->to,         sqrt(c->observed),
                 sqrt(c->low), sqrt(c->high), sqrt(c->expected)};
}

/* Rows per unit of y, because the first and the last cell may be wider. */
static bar density_bar(const check_cell *c)
{
    double width = c->to - c->from;
    if (!(width > 0.0)) width = INFINITY;
    return (bar){c->from,        c->to,           c->observed / width,
                 c->low / width, c->high / width, c->expected / width};
}

/* Bars of the cells with finite limits, at most MAX_BARS; returns their number. */
static size_t make_bars(const check_panel *p, bar (*make)(const check_cell *c), bar *out)
{
    size_t count = 0;
    for (size_t k = 0; k < p->count && count < MAX_BARS; k++)
        if (isfinite(p->cell[k].from) && isfinite(p->cell[k].to))
            out[count++] = make(&p->cell[k]);
    return count;
}

/* The last bar of a rootogram contains all larger counts; it is drawn as wide as the first. */
static void narrow_last(bar *bars, size_t count)
{
    if (count > 1) bars[count - 1].to = bars[count - 1].from + (bars[0].to - bars[0].from);
}

/* ---- cards ---- */

/* Opens a figure; its caption begins with title, column and class. */
static void open_card(text *t, const char *title, const char *of, const char *class)
{
    text_add(t, "<figure><figcaption><b>%s", title);
    if (of) {
        text_add(t, " ");
        html_text(t, of);
    }
    if (class) {
        text_add(t, " (");
        html_text(t, class);
        text_add(t, ")");
    }
    text_add(t, "</b>");
}

/* Ends a caption with axes, p and, if p is too small, a mark. */
static void close_caption(text *t, const char *axes, double p, bool off)
{
    text_add(t, " %s%s", axes, *axes ? "; " : "");
    if (p < 0.001)
        text_add(t, "p below 0.001");
    else
        text_add(t, "p = %.3f", p);
    text_add(t, "%s</figcaption>", off ? " <span class=\"off-words\">off</span>" : "");
}

/* Charts of calibration, one per class. */
static void add_calibration(text *t, const check_panels *all)
{
    for (size_t k = 0; k < all->count && k < MAX_CLASSES; k++) {
        const check_panel *p = &all->panel[k];
        open_card(t, "Calibration", p->of, p->class);
        close_caption(t, "observed (vertical) against predicted fraction", p->p, p->off);
        draw_dots(t, p, by_expected, true, "Calibration: observed against predicted fractions");
        text_add(t, "</figure>\n");
    }
}

/* Charts of rootograms or densities. */
static void add_bars(text *t, const check_panels *all, bar (*make)(const check_cell *c),
                     const char *title, const char *axes)
{
    bar bars[MAX_BARS];
    for (size_t k = 0; k < all->count; k++) {
        const check_panel *p = &all->panel[k];
        size_t count = make_bars(p, make, bars);
        if (make == root_bar) narrow_last(bars, count);
        open_card(t, title, p->of, p->class);
        close_caption(t, axes, p->p, p->off);
        draw_bars(t, bars, count, title);
        text_add(t, "</figure>\n");
    }
}

/* Charts of squared scaled residuals. */
static void add_spread(text *t, const check_panels *all)
{
    for (size_t k = 0; k < all->count; k++) {
        open_card(t, "Spread", all->panel[k].of, NULL);
        close_caption(t, "squared scaled residuals (vertical) against the prediction",
                      all->panel[k].p, all->panel[k].off);
        draw_dots(t, &all->panel[k], by_middle, false,
                  "Squares of scaled residuals against predictions");
        text_add(t, "</figure>\n");
    }
}

/* Histogram of LOO-PIT values. */
static void add_pit(text *t, const check_pit *pit)
{
    bar bars[PIT_BARS];
    if (pit->rows == 0) return;
    for (size_t k = 0; k < PIT_BARS; k++)
        bars[k] = (bar){(double)k / PIT_BARS,
                        (double)(k + 1) / PIT_BARS,
                        pit->bar[k],
                        pit->low,
                        pit->high,
                        1.0};
    open_card(t, "LOO-PIT", NULL, NULL);
    close_caption(t,
                  "rows by the predictive probability below them; flat if the model is right",
                  pit->p, pit->off);
    draw_bars(t, bars, PIT_BARS,
              "Histogram of the predictive probability below each row, from the posterior "
              "without it");
    text_add(t, "</figure>\n");
}

/* The panel that follows (p, place) in increasing order of p. */
static size_t next_panel(const check_panels *all, double p, size_t place)
{
    size_t best = all->count;
    for (size_t k = 0; k < all->count; k++) {
        double here = all->panel[k].p;
        bool later = here > p || (here == p && k > place);
        if (later && (best == all->count || here < all->panel[best].p)) best = k;
    }
    return best;
}

/* Charts of residuals along columns, smallest p first. */
static void add_residuals(text *t, const check_panels *all)
{
    double p = -1.0;
    size_t place = 0, drawn = 0;
    if (all->count == 0) return;
    text_add(t, "<h3>Residuals along columns</h3>\n<p>Observed minus predicted, in cells of "
                "each column; "
                "around 0 if the model includes the column correctly.");
    if (all->count > MAX_PANELS)
        text_add(t, " The %d of %zu with the smallest p are shown.", (int)MAX_PANELS,
                 all->count);
    text_add(t, "</p>\n<div class=\"cards small\">\n");
    for (; drawn < MAX_PANELS && (place = next_panel(all, p, place)) < all->count; drawn++) {
        const check_panel *of = &all->panel[place];
        p = of->p;
        open_card(t, "", of->of, of->class);
        close_caption(t, "", p, of->off);
        draw_dots(t, of, by_middle, false, "Residuals");
        text_add(t, "</figure>\n");
    }
    text_add(t, "</div>\n");
}

void page_checks(text *t, const view *v)
{
    const predictive_checks *c = &v->table->checks;
    add_overview(t, c);
    text_add(t, "<div class=\"cards\">\n");
    add_calibration(t, &c->calibration);
    add_bars(
        t, &c->rootogram, root_bar, "Rootogram",
        "square root of the number of rows (vertical) with each count; the last bar has all "
        "larger counts");
    add_bars(t, &c->density, density_bar, "Density", "rows per unit (vertical) by y");
    add_spread(t, &c->spread);
    add_pit(t, &c->pit);
    text_add(t, "</div>\n");
    add_statistics(t, c);
    add_residuals(t, &c->residuals);
}
