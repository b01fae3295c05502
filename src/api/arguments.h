/* Checks of the arguments of public functions that return a status and have a parameter `err`;
 * structs that callers allocate. */
#ifndef API_ARGUMENTS_H
#define API_ARGUMENTS_H

#include "core/status.h"
#include "sbps.h"

/* Fails with SBPS_BAD_ARG, naming function and argument, where a pointer is NULL. */
#define REQUIRE(pointer)                                                                       \
    do {                                                                                       \
        if (!(pointer))                                                                        \
            return fail(err, SBPS_BAD_ARG, "%s: the argument %s is NULL", __func__, #pointer); \
    } while (0)

/* The same for the pointer to a result, which becomes NULL. To be called first. */
#define REQUIRE_OUT(out)                                                                       \
    do {                                                                                       \
        REQUIRE(out);                                                                          \
        *(out) = NULL;                                                                         \
    } while (0)

/* ---- structs with a size ----
 *
 * Structs that callers allocate carry their size in their first member: a program that was
 * built with an earlier header has fewer members behind it. */

/* Copies the caller's struct into `full`, `size` bytes, with 0 for members that its header does
 * not have. Fails for members beyond those known here, and without a size. */
sbps_status sized_take(const char *type, const void *source, size_t size, void *full,
                       sbps_error *err);

/* Copies to the caller as much of `full` as its struct has room for; nothing without a size. */
void sized_give(const void *full, size_t size, void *out);

/* Fails where the caller's struct has no size. */
sbps_status sized_check(const char *type, const void *out, sbps_error *err);

/* ---- predict.c: options of scoring, from structs of any size ---- */

/* Points into itself. */
typedef struct {
    sbps_scoring how;
    sbps_frame frame;
} scoring_taken;

/* Copies the options. Call leave_frame with its frame also after a failure. Where *data is NULL
 * and rows are in memory, *data becomes their name in messages. */
sbps_status take_scoring(const sbps_scoring *how, scoring_taken *out, const char **data,
                         sbps_error *err);
/* Releases a stream that was not read. NULL is fine. */
void leave_frame(const sbps_frame *frame);

#endif
