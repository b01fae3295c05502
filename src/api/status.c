/* Versions, descriptions of statuses, text for callers; ranks. */
#include "core/status.h"
#include "api/arguments.h"
#include "core/printable.h"
#include "core/ranks/ranks.h"
#include "sbps_ranks.h"
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

/* ---- ranks ---- */

sbps_status sbps_ranks_open(sbps_ranks **out, sbps_error *err)
{
    REQUIRE_OUT(out);
    return ranks_open(out, err);
}

sbps_status sbps_ranks_open_on(const void *comm, sbps_ranks **out, sbps_error *err)
{
    REQUIRE_OUT(out);
    REQUIRE(comm);
    return ranks_open_on(comm, out, err);
}

void sbps_ranks_close(sbps_ranks *among)
{
    ranks_close(among);
}

size_t sbps_ranks_size(const sbps_ranks *among)
{
    return ranks_size(among);
}

size_t sbps_ranks_rank(const sbps_ranks *among)
{
    return ranks_rank(among);
}

void sbps_ranks_traffic(const sbps_ranks *among, double *messages, double *bytes)
{
    if (messages) *messages = among ? among->messages : 0.0;
    if (bytes) *bytes = among ? among->bytes : 0.0;
}

bool sbps_ranks_exchange_codes(sbps_ranks *among, int code, size_t *first_failed)
{
    return first_failed && ranks_collect_status(among, code, first_failed);
}

void sbps_ranks_end_all(sbps_ranks *among, int code)
{
    if (among) among->by->end_all(among->self, code);
}
