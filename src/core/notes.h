/* Notes for the user, a line each. */
#ifndef CORE_NOTES_H
#define CORE_NOTES_H

#include "core/status.h"

#include <stdarg.h>

/* One more line; NULL notes: there were none. */
sbps_status notes_add(char **notes, const char *format, va_list values, sbps_error *err)
    __attribute__((format(printf, 2, 0)));

#endif
