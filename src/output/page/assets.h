/* page.css, page.js, live.js and uPlot's files, which the build turns into text that ends with a zero (cmake/Embed.cmake). Those of
 * uPlot are empty in a build without it (cmake/Uplot.cmake). */
#ifndef OUTPUT_ASSETS_H
#define OUTPUT_ASSETS_H

extern const char page_css[], page_js[], live_js[], uplot_js[], uplot_css[];

#endif
