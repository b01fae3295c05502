/* Reading ahead of the windows that a minibatch picks. For the files of this folder. */
#ifndef POSTERIOR_WINDOWS_H
#define POSTERIOR_WINDOWS_H

#include "posterior/minibatch/minibatch.h"

/* Batches are windows from now on. */
void windows_start(minibatch *u);
/* Before a window is picked: is it time to read past the page cache? */
void windows_check_misses(minibatch *u);
/* After one was picked: gets one more on its way. */
void windows_next(minibatch *u);

#endif
