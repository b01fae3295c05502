/* Ranks for a caller. */
#include "core/ranks/ranks.h"
#include "api/arguments.h"

#include "sbps_ranks.h"

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
