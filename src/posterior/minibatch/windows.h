/* Reading ahead of the windows that a minibatch will pick. For the files of this folder. */
#ifndef POSTERIOR_WINDOWS_H
#define POSTERIOR_WINDOWS_H

#include "posterior/minibatch/minibatch.h"

/* Call when batches become windows. */
void windows_start(minibatch *u);
/* Call before a window is picked: decides whether to bypass the page cache. */
void windows_check_misses(minibatch *u);
/* Call after a window was picked: requests one more. */
void windows_next(minibatch *u);

#endif
