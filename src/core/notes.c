/* Notes for the user, a line each. */
#include "core/notes.h"

#include <stdio.h>
#include <stdlib.h>

sbps_status notes_add(char **notes, const char *format, va_list values, sbps_error *err)
{
    char *sentence, *all;
    int made = vasprintf(&sentence, format, values);
    if (made < 0) return fail_memory(err);
    made = asprintf(&all, "%s%s\n", *notes ? *notes : "", sentence);
    free(sentence);
    if (made < 0) return fail_memory(err);
    free(*notes);
    *notes = all;
    return SBPS_OK;
}
