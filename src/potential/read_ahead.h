/* Reading ahead of the windows that a minibatch picks. For the files of this folder. */
#ifndef POTENTIAL_READ_AHEAD_H
#define POTENTIAL_READ_AHEAD_H

#include "potential/minibatch.h"

/* Batches are windows from now on. */
void read_ahead_start(minibatch *u);
/* Before a window is picked: is it time to read past the page cache? */
void read_ahead_turn(minibatch *u);
/* After one was picked: gets one more on its way. */
void read_ahead_next(minibatch *u);

#endif
