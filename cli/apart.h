/* The files that a command names: what it writes may be neither another of them nor what it reads. */
#ifndef CLI_APART_H
#define CLI_APART_H

#include "sbps.h"

typedef struct {
    const char *flag; /* as in messages: --output; NULL: the data, as is_data has it */
    const char *path; /* NULL or empty: not given */
    bool written;
} named_file;

/* Whether `path` is one of the files that `data` names: several lines, of which each may be a pattern. */
bool is_data(const char *path, const char *data);
/* SBPS_BAD_ARG when two are one file, or would be. Devices and pipes may be shared, and so may what
 * --checkpoint and --resume name. */
sbps_status apart_check(const named_file *files, size_t count, sbps_error *err);
/* The files of `sample`; data may be NULL. */
sbps_status apart_check_sample(const sbps_options *options, const char *data, sbps_error *err);

#endif
