/* Files that a command writes: checked before anything is computed, locked during a run, and
 * not lost when writing fails. */
#ifndef CLI_OUTPUT_H
#define CLI_OUTPUT_H

#include "cli/cli.h"

/* Whether the name ends in .nc, or in .stan.csv (Stan's format has one file per chain). */
bool output_is_netcdf(const char *path);
bool output_is_stan(const char *path);

/* The file of a chain in Stan's format, numbered from 1: run_1.stan.csv. `size` bytes at
 * `name`. */
void output_name_chain(const char *path, size_t chain, size_t size, char *name);

/* SBPS_BAD_ARG if sbps_result_write has no format for this name. */
sbps_status output_check_ending(const char *path, sbps_error *err);

/* SBPS_NO_FILE if no file can be made at `path`; `name` is the option that named it. */
sbps_status output_check(const char *name, const char *path, sbps_error *err);

/* SBPS_NO_FILE if there is a file at `path` that is not a run of sbps: it is not overwritten.
 * `chains`: number of files in Stan's format. */
sbps_status output_check_earlier(const char *path, size_t chains, sbps_error *err);

/* Checks that no file which a command writes is another file that it writes or reads: the
 * outputs among its own flags, the options of the library's table that name files (`options`;
 * NULL: none), its run file and its data (NULL: none). SBPS_BAD_ARG when two are or would be
 * one file; SBPS_NO_FILE when one cannot be written. Devices and pipes may be shared, and so
 * may the files of --checkpoint and --resume. */
sbps_status files_check(const arguments *args, const sbps_options *options, const char *data,
                        sbps_error *err);

/* Whether `path` is one of the files of `data`: a line each, which may be a pattern; - is
 * standard input. */
bool is_data(const char *path, const char *data);

typedef struct {
    int file;   /* -1: nothing is locked */
    char *name; /* of the lock file, owned */
} output_lock;

/* Locks an output for this process; SBPS_NO_FILE when another run has locked it. Devices and
 * pipes are not locked. Release *out in any case. */
sbps_status output_lock_take(const char *path, output_lock *out, sbps_error *err);
void output_lock_release(output_lock *lock);

/* Prints where the draws are. */
void output_report(const char *path);

/* Writes a run to `path`; if that fails, to a new folder in $TMPDIR, and prints where.
 * where[size] gets the file that was written, or "" if there is none. Returns the status of
 * writing to `path`. */
sbps_status output_write(const sbps_result *result, const char *path, size_t size, char *where,
                         sbps_error *err);

#endif
