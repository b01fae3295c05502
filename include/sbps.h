/* sbps: posterior sampling for tables too large for ordinary MCMC.
 *
 * A table and a set of options make a run. A run advances in rounds. A result holds the posterior draws of a run, or of
 * a file that a run wrote. Handles are opaque. The library never prints, exits or aborts.
 *
 * Arguments. Pointers marked "or NULL" may be NULL; any other NULL is an error: functions that return a status return
 * SBPS_BAD_ARG and name the argument, other functions return 0, false or NULL, or do nothing.
 *
 * Failure. A function that can fail returns a status and, where `err` is not NULL, writes a sentence to it. On failure
 * `*out` is NULL and nothing has to be released.
 *
 * Ownership. `const T *` is borrowed for the call. `T **out` gives the caller an object to release: with sbps_T_destroy,
 * and text with sbps_free. A returned pointer marked "borrowed" lives as long as the object it comes from. Exceptions are
 * stated with the function. Destroying NULL does nothing.
 *
 * Threads. Calls on different handles may run at the same time, including those that read and write run files. Calls on
 * one handle may not, and a run counts as one handle with its table. There are two exceptions:
 *   - functions that take a const sbps_result may run at the same time on one result;
 *   - any thread may call sbps_table_interrupt, sbps_table_passes and sbps_run_interrupt at any time.
 * A handle may pass from one thread to another. The library calls NetCDF-C and HDF5, which are not thread-safe, under one
 * lock for the whole process. A program that calls these two itself must not do so while another thread reads or writes a
 * run file. HDF5's error printing is switched off in threads that do. fork() waits for the end of such a call, so that
 * a child process may use run files, too.
 *
 * Versions. Before 1.0 any release may change names and struct members; the SONAME is libsbps.so.0 and a program should be
 * built against the release it runs with. From 1.0 on, releases of one major version only add functions, and add struct
 * members at the end: structs that callers allocate begin with struct_size, which callers set to sizeof, so that programs
 * built with an earlier header keep working. sbps_error has no struct_size and stays as it is. */
#ifndef SBPS_H
#define SBPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SBPS_VERSION "0.2.0" /* of this header; sbps_version() is that of the library */

#if defined(__GNUC__)
#define SBPS_API __attribute__((visibility("default")))
#else
#define SBPS_API
#endif

#define SBPS_STATUSES(X)                                                                       \
    X(SBPS_OK, "ok")                                                                           \
    X(SBPS_BAD_ARG, "argument out of range")                                                   \
    X(SBPS_BAD_FILE, "malformed input file")                                                   \
    X(SBPS_BAD_DATA, "data do not fit the model")                                              \
    X(SBPS_NO_FILE, "file cannot be opened, read or written")                                  \
    X(SBPS_NO_MEM, "out of memory")                                                            \
    X(SBPS_NO_MODE, "the posterior has no mode that could be found")                           \
    X(SBPS_MISMATCH, "checkpoint belongs to another run")                                      \
    X(SBPS_DIVERGED, "the path left the finite numbers")                                       \
    X(SBPS_INTERRUPTED, "stopped on request")

typedef enum {
#define SBPS_STATUS_NAME(name, text) name,
    SBPS_STATUSES(SBPS_STATUS_NAME)
#undef SBPS_STATUS_NAME
} sbps_status;

typedef struct {
    sbps_status status;
    char text[512]; /* a sentence without a full stop at its end; names file, line and column */
} sbps_error;

/* The library's version, "major.minor.patch". Static. */
SBPS_API const char *sbps_version(void);

/* A general description of a status, never NULL. Static. */
SBPS_API const char *sbps_status_text(sbps_status status);

/* Returns the one of `count` names that is nearest to a misspelt `name`, borrowed, or NULL when none is near. */
SBPS_API const char *sbps_nearest(const char *name, const char *const *names, size_t count);

/* Releases text that the library allocated for the caller. NULL does nothing. */
SBPS_API void sbps_free(char *text);

/* ---- options: one table, set by name as on the command line ---- */

typedef struct sbps_options sbps_options;

typedef struct {
    const char *name;     /* without the leading dashes */
    const char *argument; /* what the value is called in help; NULL for a switch */
    const char *fallback; /* default as text; "" when there is none */
    const char *group;    /* heading in help */
    const char *help;
} sbps_option_info;

/* The number of options, and the option at `index`, whose members are static; all members are 0 past the end. */
SBPS_API size_t sbps_option_count(void);
SBPS_API sbps_option_info sbps_option_at(size_t index);
/* Whether an option applies to a subcommand: "sample", "map" or "laplace". */
SBPS_API bool sbps_option_serves(size_t index, const char *command);

/* What a command does with the file that an option names: nothing (it names none), reads it, or writes it. */
typedef enum { SBPS_FILE_NONE, SBPS_FILE_READ, SBPS_FILE_WRITTEN } sbps_file_use;

SBPS_API sbps_file_use sbps_option_file(size_t index);

/* Makes a set of options, all at their defaults. Fails with SBPS_NO_MEM. */
SBPS_API sbps_status sbps_options_create(sbps_options **out, sbps_error *err);
/* Sets an option by its name without dashes, to a value as text: as on the command line. `value` NULL is "true", for
 * a switch. Fails with SBPS_BAD_ARG for an unknown name, with a suggestion, and for a value out of range; the option
 * keeps its value then. */
SBPS_API sbps_status sbps_options_set(sbps_options *options, const char *name,
                                      const char *value, sbps_error *err);
/* The same for numbers, counts and switches, without text in between. */
SBPS_API sbps_status sbps_options_set_real(sbps_options *options, const char *name,
                                           double value, sbps_error *err);
SBPS_API sbps_status sbps_options_set_size(sbps_options *options, const char *name,
                                           uint64_t value, sbps_error *err);
SBPS_API sbps_status sbps_options_set_switch(sbps_options *options, const char *name, bool on,
                                             sbps_error *err);
/* Reads `name = value` lines from a file (# starts a comment). Options that were set before keep their values. Fails
 * with SBPS_NO_FILE, or SBPS_BAD_FILE with the line. */
SBPS_API sbps_status sbps_options_read(sbps_options *options, const char *path,
                                       sbps_error *err);
/* The present value as text, borrowed until the next call on these options; NULL for an unknown name. */
SBPS_API const char *sbps_options_get(const sbps_options *options, const char *name);
SBPS_API void sbps_options_destroy(sbps_options *options);

/* ---- a model of the caller's own, as a function of some rows ---- */

/* Rows to be evaluated at w. x holds their columns as a regression would use them: the intercept's 1 first (unless the
 * option no-intercept is set), then numbers and categories, row-major. Everything is borrowed for the call. */
typedef struct {
    size_t struct_size; /* of the library that calls: members beyond it do not exist */
    size_t n, dim, columns;
    const double *w; /* dim */
    const double *x; /* n * columns */
    const double *y; /* n */
    /* Outputs, each NULL where it is not needed: loglik[n], the log likelihood of each row up to a constant, and
     * gradient[n * dim], its gradient by w, row-major. */
    double *loglik, *gradient;
    char *text; /* for the sentence of a failure, text_size bytes */
    size_t text_size;
} sbps_batch;

/* A model as a function. struct_size and `rows` are required; any other member may be 0. */
typedef struct {
    size_t struct_size; /* sizeof(sbps_model_function) */
    const char
        *name;  /* for messages and files, which name it "function NAME"; without a slash */
    void *data; /* first argument of the function */
    /* Evaluates a batch. It must return the same numbers for the same rows and w in any batch. When it returns false the run
     * ends with SBPS_BAD_DATA and its text, and the function is not called again. */
    bool (*rows)(void *data, const sbps_batch *batch);
    size_t dim; /* number of parameters; 0: one for each column */
    /* Each has dim entries or is NULL: names (NULL: those of the columns where there is one parameter for each, else w1, w2,
     * ...); the start of the search for the mode (NULL: 0); sds of default priors normal(0, sd) (INFINITY or NULL: flat). */
    const char *const *names;
    const double *start, *prior_sd;
    bool
        any_thread; /* true: several threads may call it at once; false: only the thread that calls the library does */
} sbps_model_function;

/* Sets a model in place of the option `model`, until that option is set again. The struct is copied; what it points to is
 * borrowed by the options and by the runs and modes made with them. Before the search for the mode its gradient is compared with
 * differences of its values on a few rows. See docs/models/function.md. */
SBPS_API sbps_status sbps_options_set_model(sbps_options *options,
                                            const sbps_model_function *model, sbps_error *err);

/* ---- lists of models, samplers and priors ---- */

typedef struct {
    size_t struct_size; /* sizeof(sbps_kind_info) */
    const char *name;
    const char *summary; /* one sentence */
    bool needs_table;    /* false: a model that is a density by itself */
} sbps_kind_info;

/* Entry `index` of a list: "models", "families" (models by R's names), "samplers", "priors" or "columns" (of a summary,
 * after the name). False past the end and for an unknown list. Members are static. */
SBPS_API bool sbps_kind_at(const char *family, size_t index, sbps_kind_info *out);

/* ---- Arrow's C data and C stream interfaces, as their specifications define them ---- */

#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE

#define ARROW_FLAG_DICTIONARY_ORDERED 1
#define ARROW_FLAG_NULLABLE           2
#define ARROW_FLAG_MAP_KEYS_SORTED    4

struct ArrowSchema {
    const char *format;
    const char *name;
    const char *metadata;
    int64_t flags;
    int64_t n_children;
    struct ArrowSchema **children;
    struct ArrowSchema *dictionary;
    void (*release)(struct ArrowSchema *);
    void *private_data;
};

struct ArrowArray {
    int64_t length;
    int64_t null_count;
    int64_t offset;
    int64_t n_buffers;
    int64_t n_children;
    const void **buffers;
    struct ArrowArray **children;
    struct ArrowArray *dictionary;
    void (*release)(struct ArrowArray *);
    void *private_data;
};

#endif

#ifndef ARROW_C_STREAM_INTERFACE
#define ARROW_C_STREAM_INTERFACE

struct ArrowArrayStream {
    int (*get_schema)(struct ArrowArrayStream *, struct ArrowSchema *out);
    int (*get_next)(struct ArrowArrayStream *, struct ArrowArray *out);
    const char *(*get_last_error)(struct ArrowArrayStream *);
    void (*release)(struct ArrowArrayStream *);
    void *private_data;
};

#endif

/* ---- tables ---- */

typedef struct sbps_table sbps_table;

/* Called now and then while a table is read or converted, on the caller's thread: the name of the present stage, rows so
 * far, and the fraction of that stage that is done (0..1, NAN unknown). Return false to stop. */
typedef bool (*sbps_convert_watch)(void *self, const char *stage, size_t rows, double share);

/* How a table is read. Members that are 0 have no effect. */
typedef struct {
    size_t struct_size;       /* sizeof(sbps_reading) */
    sbps_convert_watch watch; /* progress, or NULL */
    void *self;               /* first argument of watch */
    struct ranks *ranks; /* of sbps_ranks.h: the processes that each read a part of the rows */
} sbps_reading;

/* Maps a table that sbps_table_convert wrote, or reads CSV or libsvm text and shuffles its rows. Text may be packed by gzip, zstd
 * or xz. The options target, features, categorical, exclude, reference, success, na, no-intercept, standardize, weights,
 * offset, missing, header and seed apply. `path` is a file, - for standard input, a pattern such as part-*.csv, or several
 * names and patterns, one on each line, of CSV files with the same column names; with the option generate it may be NULL. `how` or NULL. Fails with SBPS_NO_FILE,
 * SBPS_BAD_FILE (naming file, line and column), SBPS_BAD_DATA, SBPS_NO_MEM, or SBPS_INTERRUPTED where `watch` stopped it. */
SBPS_API sbps_status sbps_table_read(const char *path, const sbps_options *options,
                                     const sbps_reading *how, sbps_table **out,
                                     sbps_error *err);
/* Copies `rows` x `columns` numbers (row-major; x may be NULL without columns) and the target (rows numbers). `names` has one name for each column, or is
 * NULL: x1, x2, ... The options of sbps_table_read apply, except those that name columns. */
SBPS_API sbps_status sbps_table_copy(size_t rows, size_t columns, const double *x,
                                     const char *const *names, const double *target,
                                     const sbps_options *options, sbps_table **out,
                                     sbps_error *err);

/* The type of the values of a column in memory. */
typedef enum {
    SBPS_DOUBLE, /* NAN is missing */
    SBPS_FLOAT,
    SBPS_INT8,
    SBPS_INT16,
    SBPS_INT32,
    SBPS_INT64,
    SBPS_UINT8,
    SBPS_UINT16,
    SBPS_UINT32,
    SBPS_UINT64,
    SBPS_BOOL,   /* one byte each: the levels FALSE and TRUE */
    SBPS_STRING, /* const char *, UTF-8; NULL is missing */
    SBPS_LEVEL   /* int32_t: `levels` from first_level on; below that is missing */
} sbps_column_type;

/* A column in memory, borrowed for the call. Members that are 0 have no effect. */
typedef struct {
    size_t struct_size; /* sizeof(sbps_column) */
    const char *name;   /* UTF-8 */
    sbps_column_type type;
    const void *values;
    ptrdiff_t stride;          /* bytes from value to value; 0: contiguous */
    const uint8_t *validity;   /* one bit for each row, lowest first: 0 is missing; or NULL */
    const char *const *levels; /* of SBPS_LEVEL */
    size_t level_count;
    int32_t first_level; /* code of the first: 0, or 1 as R counts */
    bool ordered; /* levels keep the order they are listed in: the first is compared with */
} sbps_column;

/* Makes a table of `rows` rows from `count` columns in memory, as if they were read from a CSV file with these cells: formulas,
 * text as categories, groups and missing cells are treated by the options of sbps_table_read, and the same numbers give the same
 * table. Column types are those given: text that looks like a number stays text. Messages name "table:17" for row 17. `watch` or
 * NULL, as in sbps_reading. With the option storage `given` (docs/memory.md) only the target is copied, and columns are borrowed
 * until the table is destroyed. */
SBPS_API sbps_status sbps_table_from_columns(size_t rows, size_t count,
                                             const sbps_column *columns,
                                             const sbps_options *options,
                                             sbps_convert_watch watch, void *self,
                                             sbps_table **out, sbps_error *err);
/* The same from an Arrow stream (above), batch by batch. The stream is released exactly once, also after a failure. Types:
 * booleans, integers, floating-point numbers of any width, decimals of 128 bits, text, dictionaries of any of those, dates,
 * timestamps and durations (in seconds). A used column of another type fails with a sentence that names it. */
SBPS_API sbps_status sbps_table_from_arrow(struct ArrowArrayStream *stream,
                                           const sbps_options *options,
                                           sbps_convert_watch watch, void *self,
                                           sbps_table **out, sbps_error *err);
/* A sparse matrix, borrowed for the call: entries by rows, or by columns, as in scipy's csr and csc and R's dgCMatrix. Those
 * of row (or column) k are at start[k] to start[k + 1] - 1, in increasing order. */
typedef struct {
    size_t struct_size; /* sizeof(sbps_sparse) */
    size_t columns;
    const char *const *names; /* of the columns, UTF-8 */
    bool by_columns;
    bool wide_start, wide_index; /* start and index are int64_t; else int32_t */
    const void *start;           /* one more entry than rows, or columns */
    const void *index;           /* the column of each entry, or its row */
    const double *values;        /* NAN is missing */
} sbps_sparse;

/* Makes a table of the columns of the matrix followed by `count` dense columns, equal to sbps_table_from_columns of the same
 * numbers; the matrix is never expanded. */
SBPS_API sbps_status sbps_table_from_sparse(size_t rows, const sbps_sparse *matrix,
                                            size_t count, const sbps_column *columns,
                                            const sbps_options *options,
                                            sbps_convert_watch watch, void *self,
                                            sbps_table **out, sbps_error *err);
/* Converts the text table `from` into the file `to`, which sbps_table_read maps instead of reading: for tables larger than
 * memory. The options of sbps_table_read apply. `memory`: bytes for the shuffle, 0 for a default; the file does not depend on
 * it. `watch` or NULL. The file appears whole or not at all. */
SBPS_API sbps_status sbps_table_convert(const char *from, const char *to,
                                        const sbps_options *options, size_t memory,
                                        sbps_convert_watch watch, void *self, sbps_error *err);
/* Makes the table of a model that needs none (needs_table of sbps_kind_info). */
SBPS_API sbps_status sbps_table_none(sbps_table **out, sbps_error *err);
/* Rows of the table; with ranks, those of this process. */
SBPS_API size_t sbps_table_rows(const sbps_table *table);
/* Passes through all rows that runs and modes have made so far: progress of a set-up, for another thread. */
SBPS_API double sbps_table_passes(const sbps_table *table);
/* Stops every set-up of a run and every search for a mode on this table, present and future: they fail with
 * SBPS_INTERRUPTED. Runs that are set up go on. May be called from any thread and from a signal handler. */
SBPS_API void sbps_table_interrupt(sbps_table *table);
/* Notes for the user about how the table was read, one on each line; "" when there are none. Borrowed. */
SBPS_API const char *sbps_table_notes(const sbps_table *table);
SBPS_API void sbps_table_destroy(sbps_table *table);

/* Writes a synthetic table as CSV to `path`, by the recipe of the paper's section 7.1; `name` is a model that can simulate.
 * The true weights are written to `truth` (CSV: name,value), or nowhere when that is NULL. */
SBPS_API sbps_status sbps_simulate(const char *name, size_t rows, size_t dim, uint64_t seed,
                                   const char *path, const char *truth, sbps_error *err);

/* Writes the rows that the option generate makes, with the same bits, and their weights, likewise. */
SBPS_API sbps_status sbps_generate(const char *name, size_t rows, size_t dim, uint64_t seed,
                                   const char *path, const char *truth, sbps_error *err);

/* ---- runs ---- */

typedef struct sbps_run sbps_run;

typedef struct {
    size_t struct_size; /* sizeof(sbps_progress) */
    bool warming_up;
    double share_done;   /* 0..1, of the stopping rule nearest to being met; never decreases */
    double seconds;      /* since sampling began, set-up excluded */
    double seconds_left; /* guess; NAN while unknown */
    double proposals;    /* since the start, all chains, warm-up included */
    double proposals_per_second;
    double min_ess;       /* of every parameter and its square, from the path */
    double max_rhat;      /* NAN while unknown */
    double bias_estimate; /* posterior sd; NAN while unknown */
    size_t rounds;
    double
        rows_per_ess; /* rows evaluated per effective sample, without warm-up; NAN while unknown */
} sbps_progress;

/* Sets up a run: finds the mode and the metric, chooses what the options leave open, and starts the chains. The table is
 * borrowed until the run is destroyed; the options are copied. Fails with SBPS_BAD_ARG, SBPS_BAD_DATA, SBPS_NO_MODE,
 * SBPS_NO_MEM or SBPS_INTERRUPTED. */
SBPS_API sbps_status sbps_run_create(const sbps_table *table, const sbps_options *options,
                                     sbps_run **out, sbps_error *err);
/* The choices of set-up as text: priors, sizes, memory, sampler settings. Release with sbps_free. */
SBPS_API sbps_status sbps_run_describe(const sbps_run *run, char **out, sbps_error *err);
/* Advances every chain by one round. `*finished` becomes true when a stopping rule is met. Checkpoints and skeletons are
 * written here where the options name files for them. Fails with SBPS_DIVERGED, SBPS_BAD_DATA, SBPS_NO_FILE or SBPS_NO_MEM;
 * draws so far stay available to sbps_result_from_run. */
SBPS_API sbps_status sbps_run_advance(sbps_run *run, bool *finished, sbps_error *err);
/* Takes the next warning: an event that does not end the run, such as a checkpoint that could not be written. Returns false
 * when there is none; each warning is returned once. At the end, sbps_result_warning joins them with those on the draws. */
SBPS_API bool sbps_run_warning(sbps_run *run, sbps_error *out);
/* How group effects were drawn: groups whose log likelihood was replaced by a polynomial, and the difference between the two.
 * The mean of an effect is off by at most this many of its sds. */
typedef struct {
    size_t struct_size;    /* sizeof(sbps_effects) */
    size_t draws;          /* of an effect, all chains together */
    size_t groups;         /* in all */
    size_t by_polynomials; /* of these */
    double error,
        worst; /* root mean square over those groups, and the largest; NAN: no such group */
} sbps_effects;

/* Writes summaries of the effects of a table's groups as CSV: name, mean, mcse, sd, q5, q50, q95, ess_bulk, ess_tail, rhat;
 * by the draws made so far. The file appears whole or not at all; not at all after sbps_run_interrupt. `out` or NULL. */
SBPS_API sbps_status sbps_run_effects(const sbps_run *run, const char *path, sbps_effects *out,
                                      sbps_error *err);
/* Stops the run: the present round ends at the end of the present segment of each chain, and sbps_run_advance reports the run as
 * finished. Group effects that are not drawn yet stay out of results. May be called from any thread and from a signal
 * handler. */
SBPS_API void sbps_run_interrupt(sbps_run *run);
/* Fills as much of *out as its struct_size allows. */
SBPS_API void sbps_run_progress(const sbps_run *run, sbps_progress *out);
SBPS_API void sbps_run_destroy(sbps_run *run);

/* ---- results ---- */

typedef struct sbps_result sbps_result;

typedef struct {
    size_t struct_size; /* sizeof(sbps_parameter) */
    const char *name;
    double mean, mcse, sd;           /* from the path */
    double q5, q50, q95;             /* from the draws */
    double ess_bulk, ess_tail, rhat; /* from the draws, as R's posterior defines them */
    double bias;                     /* stated, in posterior sd */
    double bias_se;                  /* its standard error */
    double sd_bias, sd_bias_se;      /* of the sd, relative, and its standard error */
    /* Kind of parameter: "intercept", "coefficient" of a column; of groups a standard deviation "sd", a correlation "cor"
     * or an "effect"; "" for any other, such as sigma. Static. */
    const char *part;
} sbps_parameter;

typedef enum { SBPS_TEXT, SBPS_CSV, SBPS_JSON } sbps_format;

/* Makes a result of the draws of a run so far, with summaries. The result does not depend on the run afterwards. */
SBPS_API sbps_status sbps_result_from_run(const sbps_run *run, sbps_result **out,
                                          sbps_error *err);
/* Reads a result from a NetCDF file that sbps_result_write wrote. */
SBPS_API sbps_status sbps_result_read(const char *path, sbps_result **out, sbps_error *err);
/* Writes a result; the ending of `path` chooses the format: .nc NetCDF-4, .stan.csv one Stan CSV for each chain, .csv draws.
 * The file appears whole or not at all, and replaces an existing one. */
SBPS_API sbps_status sbps_result_write(const sbps_result *result, const char *path,
                                       sbps_error *err);
/* Whether a file looks like one that sbps_result_write wrote, in any of its formats. */
SBPS_API bool sbps_result_recognise(const char *path);
/* Parameters, chains, and draws of each chain. */
SBPS_API size_t sbps_result_dim(const sbps_result *result);
SBPS_API size_t sbps_result_chains(const sbps_result *result);
SBPS_API size_t sbps_result_draws(const sbps_result *result);
/* Draws w[chain][draw][parameter], borrowed. */
SBPS_API const double *sbps_result_values(const sbps_result *result);
/* A statistic of every draw, [chain][draw], borrowed: one of the variables of the group sample_stats of a run file, such as
 * "potential"; see docs/files.md. NULL: there is none of this name. */
SBPS_API const double *sbps_result_stat(const sbps_result *result, const char *name);
/* The name of a parameter, borrowed, without the work of its summary; NULL past the end. `*part` receives its kind as in
 * sbps_parameter; or NULL. */
SBPS_API const char *sbps_result_name(const sbps_result *result, size_t index,
                                      const char **part);
/* The summary of one parameter. Fails with SBPS_BAD_ARG past the end. */
SBPS_API sbps_status sbps_result_parameter(const sbps_result *result, size_t index,
                                           sbps_parameter *out, sbps_error *err);
/* The summary of all parameters as CSV or JSON; as text that of sbps_result_text with show 0. Release with sbps_free, as all
 * text below. */
SBPS_API sbps_status sbps_result_summary(const sbps_result *result, sbps_format format,
                                         char **out, sbps_error *err);
/* One sentence, without its full stop, on what the user should act on, most important first: chains that have not converged, a
 * stated bias above its budget, and `more`, the messages of sbps_run_warning joined by "; " (or NULL). Empty: nothing. */
SBPS_API sbps_status sbps_result_warning(const sbps_result *result, const char *more,
                                         char **out, sbps_error *err);
/* What a summary as text can show in addition: effects of single levels of groups; settings and costs of the run. */
enum { SBPS_SHOW_EFFECTS = 1, SBPS_SHOW_RUN = 2 };
/* The summary as text: formula, family and rows, then fixed effects, standard deviations and correlations of groups, and other
 * parameters. `show`: 0, or a sum of SBPS_SHOW_... */
SBPS_API sbps_status sbps_result_text(const sbps_result *result, unsigned show, char **out,
                                      sbps_error *err);
/* The table of the effects of groups: the columns of the summary, or mean and sd where the run keeps no draws of them. */
SBPS_API sbps_status sbps_result_effects(const sbps_result *result, sbps_format format,
                                         char **out, sbps_error *err);
/* Problems of the run and remarks about its table, with remedies, as text. `*findings` receives their number; or NULL. */
SBPS_API sbps_status sbps_result_diagnose(const sbps_result *result, char **out,
                                          size_t *findings, sbps_error *err);
/* The same as JSON: {"findings": [{"kind": "problem" or "remark", "seen", "meaning", "remedy"}, ...],
 * "checks", "problems", "remarks"}; where group effects were checked, "effects". */
SBPS_API sbps_status sbps_result_findings(const sbps_result *result, char **out,
                                          sbps_error *err);
/* Posteriors of expressions of parameters, such as x1 - x2 or exp(group=a), one row each; see docs/contrast.md. */
SBPS_API sbps_status sbps_result_contrast(const sbps_result *result,
                                          const char *const *expressions, size_t count,
                                          sbps_format format, char **out, sbps_error *err);
/* Stores the command that made the run in the result, for its file. */
SBPS_API sbps_status sbps_result_set_command(sbps_result *result, const char *command,
                                             sbps_error *err);
SBPS_API void sbps_result_destroy(sbps_result *result);

/* ---- a page about a run in progress ---- */

typedef struct sbps_watch sbps_watch;

/* Serves a page on 127.0.0.1, at an address with a secret part, from a thread of its own until sbps_watch_end. Draws do not
 * depend on it. See docs/report.md. */
SBPS_API sbps_status sbps_watch_create(sbps_watch **out, sbps_error *err);
/* http://127.0.0.1:PORT/TOKEN, borrowed. */
SBPS_API const char *sbps_watch_address(const sbps_watch *watch);
/* Shows a message while there is no run yet. */
SBPS_API void sbps_watch_notify(sbps_watch *watch, const char *message);
/* Renews the page from a run, between rounds. Costs little unless a browser has the page open and it is old. `command` is what
 * the user typed, or NULL. */
SBPS_API void sbps_watch_show(sbps_watch *watch, const sbps_run *run, const char *command);
/* Shows the last page with a message to browsers that are connected, then ends and destroys the watch. `run` or NULL. */
SBPS_API void sbps_watch_end(sbps_watch *watch, const sbps_run *run, const char *command,
                             const char *message);

/* ---- predictions, scores and checks ---- */

/* Rows in memory in place of a file: the same cells give the same result. */
typedef struct {
    size_t struct_size; /* sizeof(sbps_frame) */
    size_t rows,
        count; /* rows, and columns as in sbps_table_from_columns, borrowed for the call */
    const sbps_column *columns;
    struct ArrowArrayStream *stream; /* in place of columns: read once and released; or NULL */
    const sbps_sparse *sparse;       /* its columns come before the others; or NULL */
} sbps_frame;

typedef struct {
    size_t struct_size; /* sizeof(sbps_prediction) */
    /* "mean" of the response, "linear" predictor, a new "outcome", the log "density" of the row's outcome, or that outcome
     * itself, "response"; NULL: mean */
    const char *kind;
    const char *
        new_levels; /* of groups: "error", or "prior": effects are drawn from it; NULL: error */
    bool draws;     /* all draws of each row in place of a summary */
    size_t max_draws; /* a limit on the draws used, evenly spaced; 0: all */
    uint64_t seed;    /* of outcomes and of effects of new levels */
    unsigned threads; /* 0: as many as there are processors */
    /* The output, CSV (with draws NetCDF, where the name ends in .nc): a file, which appears whole or not at all; NULL: `take`
     * receives the CSV piece by piece, and returns false to stop. */
    const char *path;
    bool (*take)(void *self, const char *bytes, size_t count);
    void *self;
    const char *encoding; /* of the text: "utf-8", "latin1", "windows-1252"; NULL: utf-8 */
    /* Rows in memory in place of a file, or NULL; `data` is then their name in messages, NULL: table. */
    const sbps_frame *frame;
    double interval; /* probability of the central interval of the summaries; 0: 0.9 */
} sbps_prediction;

typedef struct {
    size_t struct_size; /* sizeof(sbps_predicted) */
    size_t rows;
    size_t lacking,
        not_finite;  /* rows without a prediction: a cell is missing, a term is not finite */
    char column[64]; /* of the first of those */
    size_t draws, all_draws; /* used, and available */
    double seconds;
    bool all_levels_new; /* the run has no effects: every level of a group was treated as new */
} sbps_predicted;

/* Predicts the rows of `data` (CSV, plain or packed; - is standard input), treated as those of the run were: CSV with columns
 * row, (class,) mean, sd, q5, q50, q95, or the ends of another `interval`; see docs/predict.md. `run` is the name of the result's file, for messages. */
SBPS_API sbps_status sbps_predict(const sbps_result *result, const char *run, const char *data,
                                  const sbps_prediction *how, sbps_predicted *out,
                                  sbps_error *err);

typedef struct {
    size_t struct_size; /* sizeof(sbps_scoring) */
    /* Leave-one-out, checks: number of rows to use; 0: all; SIZE_MAX: all where that costs little, else a sample. */
    size_t rows;
    size_t max_draws;     /* a limit on the draws used, evenly spaced; 0: all */
    uint64_t seed;        /* of the sample and of replicated responses */
    unsigned threads;     /* 0: as many as there are processors */
    const char *encoding; /* of the text, as in sbps_prediction */
    const sbps_frame
        *frame; /* likewise; not a stream for several runs, nor for a page by all rows */
    const char *
        group; /* sbps_loo, sbps_compare: the grouping factor whose levels are left out one by one; NULL: rows */
} sbps_scoring;

/* Scores of predictions of new rows with a known target: SBPS_TEXT or SBPS_JSON; see docs/score.md. Release with sbps_free,
 * as all text below. */
SBPS_API sbps_status sbps_score(const sbps_result *result, const char *run, const char *data,
                                const sbps_scoring *how, sbps_format format, char **out,
                                sbps_error *err);
/* Leave-one-out on the run's own rows, by Pareto-smoothed importance sampling; see docs/loo.md. */
SBPS_API sbps_status sbps_loo(const sbps_result *result, const char *run, const char *data,
                              const sbps_scoring *how, sbps_format format, char **out,
                              sbps_error *err);
/* Posterior predictive checks on a table, the run's own or another, and sensitivity to priors and likelihood, with remedies;
 * see docs/check.md. */
SBPS_API sbps_status sbps_check(const sbps_result *result, const char *run, const char *data,
                                const sbps_scoring *how, sbps_format format, char **out,
                                sbps_error *err);
/* Compares `count` runs on the same rows by leave-one-out, the best first. */
SBPS_API sbps_status sbps_compare(const sbps_result *const *results, const char *const *runs,
                                  size_t count, const char *data, const sbps_scoring *how,
                                  sbps_format format, char **out, sbps_error *err);
/* A run as one page of HTML that needs no other file; see docs/report.md. With `data`, or a frame in `how`, the page also shows
 * checks and leave-one-out of the run's own table; `run`, `data` and `how` may be NULL for a page without them. */
SBPS_API sbps_status sbps_result_page(const sbps_result *result, const char *run,
                                      const char *data, const sbps_scoring *how, char **out,
                                      sbps_error *err);
/* The file that the run's table was read from, borrowed, or NULL where it was none. */
SBPS_API const char *sbps_result_data(const sbps_result *result);

/* ---- the mode, and the normal approximation there ---- */

typedef struct sbps_mode sbps_mode;

typedef struct {
    size_t struct_size;   /* sizeof(sbps_mode_info) */
    const char *method;   /* "newton", "lbfgs" or "sag" */
    double potential;     /* U at the mode */
    double nll;           /* minus the log-likelihood there */
    double gradient_norm; /* |grad U| */
    double
        distance; /* sqrt(g' H^-1 g): an estimate of the distance to the mode, in posterior sds */
    double ridge; /* relative ridge added to make the Hessian positive definite; usually 0 */
    size_t iterations;
    double epochs; /* passes through the table, for sag; NAN for other methods */
} sbps_mode_info;

/* Finds the mode of the posterior. The options method, tolerance, max-epochs, start, seed, model and priors apply. Nothing is
 * borrowed. Fails with SBPS_NO_MODE, SBPS_BAD_DATA or SBPS_INTERRUPTED, among others. */
SBPS_API sbps_status sbps_mode_find(const sbps_table *table, const sbps_options *options,
                                    sbps_mode **out, sbps_error *err);
/* Fills as much of *out as its struct_size allows. */
SBPS_API void sbps_mode_describe(const sbps_mode *mode, sbps_mode_info *out);
SBPS_API size_t sbps_mode_dim(const sbps_mode *mode);
/* Name of a parameter, borrowed; NULL past the end. */
SBPS_API const char *sbps_mode_name(const sbps_mode *mode, size_t index);
/* The mode, dim numbers, borrowed; positive parameters such as sigma on their own scale. */
SBPS_API const double *sbps_mode_values(const sbps_mode *mode);
/* The mode as text; CSV has name,value, which the option `start` reads. Release with sbps_free. */
SBPS_API sbps_status sbps_mode_report(const sbps_mode *mode, sbps_format format, char **out,
                                      sbps_error *err);
SBPS_API void sbps_mode_destroy(sbps_mode *mode);

typedef struct sbps_laplace sbps_laplace;

/* The normal approximation at the mode: mean the mode, covariance the inverse Hessian, positive parameters on the log scale:
 * log(sigma). The mode is borrowed until the approximation is destroyed. */
SBPS_API sbps_status sbps_laplace_create(const sbps_mode *mode, sbps_laplace **out,
                                         sbps_error *err);
SBPS_API const char *sbps_laplace_name(const sbps_laplace *laplace, size_t index);
/* dim, dim and dim*dim numbers, borrowed. */
SBPS_API const double *sbps_laplace_mean(const sbps_laplace *laplace);
SBPS_API const double *sbps_laplace_sd(const sbps_laplace *laplace);
SBPS_API const double *sbps_laplace_covariance(const sbps_laplace *laplace);
/* Quantile p of minus the log likelihood per row, NLL/N + chi^2(dim)/2N; NAN unless 0 < p < 1. */
SBPS_API double sbps_laplace_nll(const sbps_laplace *laplace, double p);
/* The same as text; CSV has name,mean,sd and the columns of the covariance, which the option `start` reads. */
SBPS_API sbps_status sbps_laplace_report(const sbps_laplace *laplace, sbps_format format,
                                         char **out, sbps_error *err);
SBPS_API void sbps_laplace_destroy(sbps_laplace *laplace);

/* Writes text to a file, which appears whole or not at all. */
SBPS_API sbps_status sbps_text_write(const char *text, const char *path, sbps_error *err);

#ifdef __cplusplus
}
#endif

#endif
