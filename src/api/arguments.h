/* Checks of the arguments of public functions that return a status and have a parameter `err`. */
#ifndef API_ARGUMENTS_H
#define API_ARGUMENTS_H

#include "core/status.h"

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

#endif
