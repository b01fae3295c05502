/* The trace of one chain as CSV. */
#include "store/trace_file.h"

#include "core/decimal.h"

#include <math.h>

static const char header[] = "time,t,event,G,c2,mean,rho,lambda,from,lambda_from,accepted\n";

static const char *const observation_names[] = {
    [OBSERVATION_START] = "start",     [OBSERVATION_PROPOSAL] = "proposal",
    [OBSERVATION_HORIZON] = "horizon", [OBSERVATION_AUXILIARY] = "auxiliary",
    [OBSERVATION_REFRESH] = "refresh",
};

sbps_status trace_open(const char *path, uint64_t resume_at, append_file *out, sbps_error *err)
{
    return append_file_open(path, header, resume_at, out, err);
}

static void put_record(FILE *stream, const trace_record *r)
{
    const slope_observation *l = &r->seen;
    const double cells[] = {l->slope, l->variance, l->mean,     l->sd,
                            l->rate,  l->from,     l->rate_from};
    put_number(stream, r->time + l->t);
    fputc(',', stream);
    put_number(stream, l->t);
    fprintf(stream, ",%s,", observation_names[l->kind]);
    for (size_t i = 0; i < sizeof cells / sizeof *cells; i++) {
        if (!isnan(cells[i])) put_number(stream, cells[i]);
        fputc(',', stream);
    }
    fputs(l->kind != OBSERVATION_PROPOSAL ? "\n" : l->bounced ? "1\n" : "0\n", stream);
}

sbps_status trace_append(append_file *f, size_t count, const trace_record *records,
                         sbps_error *err)
{
    number_locale locale;
    sbps_status status = numbers_begin(&locale, err);
    if (status != SBPS_OK) return status;
    for (size_t i = 0; i < count && status == SBPS_OK; i++) {
        put_record(f->stream, &records[i]);
        status = append_file_check(f, err);
    }
    numbers_end(&locale);
    return status;
}
