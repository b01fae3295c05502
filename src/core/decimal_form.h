/* One text for each decimal number, however it is written and however many digits it has. */
#ifndef CORE_DECIMAL_FORM_H
#define CORE_DECIMAL_FORM_H

#include <stdbool.h>
#include <stddef.h>

#define DECIMAL_FORM_EXTRA ((size_t)24) /* bytes that a form may be longer than the text */

/* Sign, digits without zeros at either end, and the power of ten of the last: -1.50 becomes "-15E-1". False: the text is no
 * number, or digits behind a leading zero, as in 007, which name something; or `size` bytes are too few. */
bool decimal_form(const char *begin, size_t length, size_t size, char *out);

#endif
