/* Structs that carry their size. */
#include "api/arguments.h"

#include <string.h>

static size_t size_of(const void *source)
{
    size_t size;
    memcpy(&size, source, sizeof size);
    return size;
}

sbps_status sized_check(const char *type, const void *out, sbps_error *err)
{
    if (size_of(out) > sizeof(size_t)) return SBPS_OK;
    return fail(err, SBPS_BAD_ARG, "struct_size of %s is %zu: expected sizeof(%s)", type,
                size_of(out), type);
}

sbps_status sized_take(const char *type, const void *source, size_t size, void *full,
                       sbps_error *err)
{
    sbps_status status = sized_check(type, source, err);
    if (status != SBPS_OK) return status;
    if (size_of(source) > size)
        return fail(err, SBPS_BAD_ARG,
                    "struct_size of %s is %zu, this library knows %zu bytes of it: the program "
                    "was built for a later one",
                    type, size_of(source), size);
    memset(full, 0, size);
    memcpy(full, source, size_of(source));
    return SBPS_OK;
}

void sized_give(const void *full, size_t size, void *out)
{
    size_t known = size_of(out) < size ? size_of(out) : size, at = sizeof(size_t);
    if (known > at) memcpy((char *)out + at, (const char *)full + at, known - at);
}
