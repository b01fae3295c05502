/* Files a run writes: checked before anything is computed, and not lost when writing fails. */
#ifndef CLI_OUTPUT_H
#define CLI_OUTPUT_H

#include "sbps.h"

/* Can a file be made at `path`? `name` is the option that named it. */
sbps_status output_check(const char *name, const char *path, sbps_error *err);
bool is_same_file(const char *path, const char *other);
/* Is it a name sbps_result_write knows the format of? */
sbps_status output_check_ending(const char *path, sbps_error *err);
/* Is what lies there a run of ours, or nothing? Another file is not written over. `chains`: Stan's format
 * has a file for each. */
sbps_status output_check_earlier(const char *path, size_t chains, sbps_error *err);
bool output_is_netcdf(const char *path);
bool output_is_stan(const char *path); /* one file a chain */
void output_name_chain(const char *path, size_t chain, size_t size, char *name); /* from 1 */
/* The folder of `path`, PATH_MAX bytes: "." when it names none. */
void folder_of(const char *path, char *folder);
void output_report(const char *path); /* says where the draws are */
/* Writes the result; when that fails, to a folder of its own in $TMPDIR, and says so. `*where` gets the file
 * that holds it (`room` bytes), or "" when there is none. */
sbps_status output_write(const sbps_result *result, const char *path, size_t size, char *where,
                         sbps_error *err);

#endif
