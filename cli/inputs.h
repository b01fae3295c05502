/* Options and data of the subcommands that fit a model: sample, map and laplace; convert uses
 * parts of it. */
#ifndef CLI_INPUTS_H
#define CLI_INPUTS_H

#include "cli/cli.h"
#include "cli/progress.h"
#include "sbps_ranks.h"

/* The files among the operands, one per line, malloced; *out is NULL if there are no
 * operands. */
sbps_status inputs_data(const arguments *args, char **out, sbps_error *err);

/* Sets the options and the formula of the command line, except the subcommand's own flags; then
 * those of the config file that are not set yet. */
sbps_status inputs_take(const arguments *args, sbps_options *options, sbps_error *err);

/* Whether rows are generated (--generate) instead of read. */
bool inputs_generated(const sbps_options *options);

/* Checks that a model is named, known and fits the data (NULL: none), before a table is read,
 * which may take minutes. `who` is the subcommand. */
sbps_status inputs_check(const char *who, const sbps_options *options, const char *data,
                         sbps_error *err);

/* Checks that the value of an option is a name of the family, or auto. */
sbps_status inputs_check_kind(const sbps_options *options, const char *option,
                              const char *family, sbps_error *err);

/* Size of a regular file; NAN for anything else. */
double file_bytes(const char *path);

/* Reads the table; with several ranks each reads its part. `shown` gets the progress; may be
 * NULL. */
sbps_status inputs_open(sbps_ranks *ranks, const char *data, const sbps_options *options,
                        status_line *shown, sbps_table **out, sbps_error *err);

/* Prints the notes on how a table was read. */
void inputs_report(const char *data, const sbps_table *table);

#endif
