/* page.css and page.js, which the build turns into text that ends with a zero (cmake/Embed.cmake). */
#ifndef PAGE_ASSETS_H
#define PAGE_ASSETS_H

extern const char page_css[], page_js[];

#endif
