/* How rows are scored, as a caller says it: structs of any size, whole. */
#ifndef API_SCORING_H
#define API_SCORING_H

#include "sbps.h"

/* Points into itself. */
typedef struct {
    sbps_scoring how;
    sbps_frame frame;
} scoring_taken;

/* Leave its frame also after a failure. *data becomes what rows in memory are called, where they are and it is NULL. */
sbps_status take_scoring(const sbps_scoring *how, scoring_taken *out, const char **data,
                         sbps_error *err);
/* A stream that nobody has read is released. NULL is fine. */
void leave_frame(const sbps_frame *frame);

#endif
