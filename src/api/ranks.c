/* Ranks for a caller. */
#include "ranks/ranks.h"
#include "choose/target.h"
#include "data/share.h"
#include "run/run.h"

#include "sbps_ranks.h"

sbps_status sbps_ranks_open(sbps_ranks **out, sbps_error *err)
{
    return ranks_open(out, err);
}

sbps_status sbps_ranks_open_on(const void *comm, sbps_ranks **out, sbps_error *err)
{
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
    *messages = among ? among->messages : 0.0;
    *bytes = among ? among->bytes : 0.0;
}

/* Groups are laid together, not at random: they are not shared out. */
static sbps_status share_out(sbps_table *table, ranks *among, sbps_error *err)
{
    if (table->data->members)
        return fail(err, SBPS_BAD_ARG,
                    "tables with groups are not shared out over ranks: start one process");
    return rows_share_out(table->data, among, err);
}

sbps_status sbps_table_read_on(sbps_ranks *among, const char *path, const sbps_options *options,
                               sbps_convert_watch watch, void *self, sbps_table **out,
                               sbps_error *err)
{
    sbps_status status = sbps_table_read_watched(path, options, watch, self, out, err);
    if (status != SBPS_OK || !among) return status;
    if ((status = share_out(*out, among, err)) != SBPS_OK) {
        sbps_table_destroy(*out);
        *out = NULL;
    }
    return status;
}

bool sbps_ranks_settle(sbps_ranks *among, int code, size_t *speaker)
{
    return ranks_settle(among, code, speaker);
}

void sbps_ranks_end_all(sbps_ranks *among, int code)
{
    if (among) among->by->end_all(among->self, code);
}
