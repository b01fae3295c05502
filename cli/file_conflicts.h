/* The overwrite guard: a file that a command writes is neither another file that it writes nor one that
 * it reads. */
#ifndef CLI_APART_H
#define CLI_APART_H

#include "cli/cli.h"

/* Whether `path` is one of the files that `data` names: several lines, of which each may be a pattern; -
 * is standard input. */
bool is_data(const char *path, const char *data);
/* Checks all files of a command: the outputs among its own flags, the options of the library's table
 * that name files (`options`; NULL: it takes none of them), its run file and its data (NULL: none).
 * SBPS_BAD_ARG when two are one file, or would be; SBPS_NO_FILE when one cannot be written. Devices and
 * pipes may be shared, and so may the files of --checkpoint and --resume. */
sbps_status files_check(const arguments *args, const sbps_options *options, const char *data,
                        sbps_error *err);

#endif
