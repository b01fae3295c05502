/* What the subcommands that look at a posterior have in common: options, their checks, the table. */
#ifndef CLI_INPUTS_H
#define CLI_INPUTS_H

#include "cli/cli.h"
#include "cli/progress.h"
#include "sbps_ranks.h"

/* The files that the operands name, a line each, to be freed; NULL: none. */
sbps_status inputs_data(const arguments *args, char **out, sbps_error *err);
/* Sets what the command line gives, but for the subcommand's own flags; a config file fills the gaps. */
sbps_status inputs_take(const arguments *args, sbps_options *options, sbps_error *err);
/* Are rows made on the fly, in the place of a file? */
bool inputs_generated(const sbps_options *options);
/* Is a model named, is it known, and does it go with the data? `data` is NULL where none is named.
 * Asked before the table is read: that can take minutes. */
sbps_status inputs_check(const char *who, const sbps_options *options, const char *data,
                         sbps_error *err);
/* Does the option name one of the family, or auto? */
sbps_status inputs_check_kind(const sbps_options *options, const char *option,
                              const char *family, sbps_error *err);
/* NAN for what is no plain file. */
double file_bytes(const char *path);
/* `shown` is told how far it is; NULL: nobody is. Of several ranks each has its share. */
sbps_status inputs_open(sbps_ranks *ranks, const char *data, const sbps_options *options,
                        waiting *shown, sbps_table **out, sbps_error *err);

/* What is to be known of how it was read. */
void inputs_report(const char *data, const sbps_table *table);

/* map.c: finds the mode as the command line says, lets `tell` make the report, and prints it or writes
 * it to -o. The exit code. */
int mode_command(const arguments *args,
                 sbps_status (*make_report)(const sbps_mode *mode, sbps_format format,
                                            char **out, sbps_error *err));
/* The flags of map and laplace. */
extern const sbps_option_info mode_flags[];
extern const char *const mode_outputs[];
enum { MODE_FLAGS = 3 };

#endif
