/* Reading ahead of the windows that a minibatch picks. For the files of this folder. */
#ifndef POTENTIAL_WINDOWS_H
#define POTENTIAL_WINDOWS_H

#include "potential/minibatch.h"

/* Batches are windows from now on. */
void windows_start(minibatch *u);
/* Before a window is picked: is it time to read past the page cache? */
void windows_turn(minibatch *u);
/* After one was picked: gets one more on its way. */
void windows_next(minibatch *u);

#endif
