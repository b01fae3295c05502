/* One rank, all by itself: what several do together it does alone. */
#include "core/ranks/ranks.h"

#include <stdlib.h>
#include <string.h>

static void alone_broadcast(void *self, size_t from, void *bytes, size_t size)
{
    (void)self, (void)from, (void)bytes, (void)size;
}

static void alone_gather(void *self, const void *mine, void *all, size_t size)
{
    (void)self;
    memcpy(all, mine, size);
}

static bool alone_collect_status(void *self, int mine, double seconds, int *all)
{
    (void)self, (void)seconds;
    *all = mine;
    return true;
}

static void alone_end_all(void *self, int code)
{
    (void)self;
    exit(code);
}

static void alone_close(void *self)
{
    (void)self;
}

static const transport by_nobody = {
    .broadcast = alone_broadcast,
    .gather = alone_gather,
    .collect_status = alone_collect_status,
    .end_all = alone_end_all,
    .close = alone_close,
};

sbps_status ranks_alone(ranks **out, sbps_error *err)
{
    *out = calloc(1, sizeof **out);
    double *scratch = calloc(1, sizeof *scratch);
    if (!*out || !scratch) {
        free(*out);
        free(scratch);
        *out = NULL;
        return fail_memory(err);
    }
    **out = (ranks){.by = &by_nobody, .size = 1, .scratch = scratch};
    return SBPS_OK;
}
