/* Versions, descriptions of statuses, text for callers. */
#include "core/status.h"
#include "api/arguments.h"
#include "core/printable.h"
#include "store/atomic_file.h"

#include <stdlib.h>
#include <string.h>

const char *sbps_version(void)
{
    return SBPS_VERSION;
}

const char *sbps_status_text(sbps_status status)
{
    return status_text(status);
}

const char *sbps_nearest(const char *name, const char *const *names, size_t count)
{
    return name && names ? nearest_name(name, names, count) : NULL;
}

void sbps_free(char *text)
{
    free(text);
}

sbps_status sbps_text_write(const char *text, const char *path, sbps_error *err)
{
    atomic_file file;
    REQUIRE(text);
    REQUIRE(path);
    sbps_status status = file_begin(path, &file, err);
    if (status != SBPS_OK) return status;
    file_write(&file, text, strlen(text));
    return file_commit(&file, err);
}
