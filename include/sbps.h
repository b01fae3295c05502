/* sbps: posterior sampling for tables too big for ordinary MCMC.
 *
 * A table and a set of options make a run; a run advances in rounds; a result is what a run
 * (or a file it wrote) says about the posterior. Handles are opaque. Every call that can fail
 * returns a status and, when `err` is not NULL, writes a sentence. On failure `*out` is NULL.
 * The library never prints, exits or aborts.
 *
 * Threads. Calls on different handles may run at the same time, those that read and write run files included.
 * Calls on one handle may not, and a run counts as one handle with its table. There are two exceptions:
 *   - functions that take a const sbps_result may run at the same time on one result;
 *   - any thread may call sbps_table_interrupt, sbps_table_passes and sbps_run_interrupt at any time.
 * A handle may go from one thread to another. Reading and writing NetCDF files takes turns: the library calls
 * NetCDF-C and HDF5, which are not thread-safe, under one lock for the whole process. A program that calls these two
 * itself must not do so while another thread reads or writes a file of this library. HDF5's printing of its errors is
 * switched off in threads that do. fork() waits for the end of such a call, so that a child may use these files, too.
 *
 * Structs that callers allocate begin with struct_size, which callers set, so that programs go on to work with later libraries:
 * members are added at the end only. */
#ifndef SBPS_H
#define SBPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SBPS_VERSION "0.1.0"

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
    X(SBPS_DIVERGED, "the path left the finite numbers")

typedef enum {
#define SBPS_STATUS_NAME(name, text) name,
    SBPS_STATUSES(SBPS_STATUS_NAME)
#undef SBPS_STATUS_NAME
} sbps_status;

typedef struct {
    sbps_status status;
    char text[512]; /* a sentence without a full stop at its end; names file, line and column */
} sbps_error;

/* The general text of a status, never NULL. */
SBPS_API const char *sbps_status_text(sbps_status status);

/* The name nearest to a misspelt word, for a suggestion; NULL when none is near. */
SBPS_API const char *sbps_nearest(const char *name, const char *const *names, size_t count);

/* Frees a string the library gave to the caller. NULL is fine. */
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

SBPS_API size_t sbps_option_count(void);
SBPS_API sbps_option_info sbps_option_at(size_t index);
/* Does it serve this subcommand: "sample", "map" or "laplace"? */
SBPS_API bool sbps_option_serves(size_t index, const char *command);

/* What a command does with the file that an option names. */
typedef enum { SBPS_FILE_NONE, SBPS_FILE_READ, SBPS_FILE_WRITTEN } sbps_file_use;

/* SBPS_FILE_NONE: the option names no file. */
SBPS_API sbps_file_use sbps_option_file(size_t index);

SBPS_API sbps_status sbps_options_create(sbps_options **out, sbps_error *err);
/* value: text; for a switch "true" or "false", NULL meaning "true". Unknown names fail with a
 * suggestion. */
SBPS_API sbps_status sbps_options_set(sbps_options *options, const char *name,
                                      const char *value, sbps_error *err);
/* Reads `name = value` lines (# starts a comment). Options already set stay as they are. */
SBPS_API sbps_status sbps_options_read(sbps_options *options, const char *path,
                                       sbps_error *err);
/* The value in force as text, borrowed until the next set; NULL for an unknown name. */
SBPS_API const char *sbps_options_get(const sbps_options *options, const char *name);
SBPS_API void sbps_options_destroy(sbps_options *options);

/* ---- a model of the caller's own, as a function of some rows ---- */

/* Rows that are asked about at w. x holds their columns as regression would use them, the intercept's 1 first (the option
 * no-intercept leaves it out), then numbers and categories; row after row, side by side. All is borrowed for the call. */
typedef struct {
    size_t n, dim, columns;
    const double *w; /* dim */
    const double *x; /* n * columns */
    const double *y; /* n */
    /* To be filled, NULL: not wanted. n: log p of each row, of which a constant may be left out; n * dim: its gradient in w,
     * row after row. */
    double *loglik, *gradient;
    char *text; /* where it returns false: what is wrong, within text_size bytes */
    size_t text_size;
} sbps_batch;

/* Members that are 0 say nothing, but for struct_size and `rows`. */
typedef struct {
    size_t struct_size; /* sizeof(sbps_model_function) */
    const char *name; /* for sentences and files, which say "function NAME"; without a slash */
    void *data;       /* handed to the function */
    /* The same numbers for the same rows and w, whatever batch they come in. False: it cannot say, which ends the run with
     * SBPS_BAD_DATA and its text. It is not called again then. */
    bool (*rows)(void *data, const sbps_batch *batch);
    size_t dim; /* number of parameters; 0: one a column */
    /* Each dim: names, NULL: the columns' where there is one a column, else w1, w2, ...; where the search for the mode begins,
     * NULL: at 0; sds of default priors normal(0, sd), INFINITY or NULL: flat. */
    const char *const *names;
    const double *start, *prior_sd;
    bool any_thread; /* several may call it at once. False: only the thread that calls us */
} sbps_model_function;

/* Takes the place of the option `model`, until that is set again. The struct is copied; what it points to is borrowed, also by
 * the runs and modes made with these options. Before the search for the mode begins its gradient is held against differences
 * of its values at a few rows. See docs/models/function.md. */
SBPS_API sbps_status sbps_options_set_model(sbps_options *options,
                                            const sbps_model_function *model, sbps_error *err);

/* ---- names that can be asked for ---- */

typedef struct {
    size_t struct_size; /* sizeof(sbps_kind_info) */
    const char *name;
    const char *summary; /* one sentence */
    bool needs_table;    /* false: a model that is a density by itself */
} sbps_kind_info;

/* family: "models", "families" (models by R's names), "samplers", "priors", "columns" (of a summary, behind the name). False past the end of the list or for an unknown family. */
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

/* Maps what sbps_table_convert wrote, or reads CSV or libsvm text (plain or packed by gzip, zstd or xz; - is standard
 * input) as the options say (target, features, categorical, exclude, reference, success, na, no-intercept, standardize, weights, offset, missing, header, seed) and shuffles its rows. `path` may be a pattern
 * such as part-*.csv, or several names and patterns, a line each, of CSV files with the same names of columns. */
SBPS_API sbps_status sbps_table_read(const char *path, const sbps_options *options,
                                     sbps_table **out, sbps_error *err);
/* What reading and converting tell now and then, on the caller's thread: a word for what is done, rows so
 * far, and the share of that stage (0..1, NAN unknown). False stops it. */
typedef bool (*sbps_convert_watch)(void *self, const char *stage, size_t rows, double share);
/* The same; `watch` is told how far it is. */
SBPS_API sbps_status sbps_table_read_watched(const char *path, const sbps_options *options,
                                             sbps_convert_watch watch, void *self,
                                             sbps_table **out, sbps_error *err);
/* Copies `rows` x `columns` numbers (row-major) and the target; names may be NULL. Options as
 * above except for those that name columns. */
SBPS_API sbps_status sbps_table_copy(size_t rows, size_t columns, const double *x,
                                     const char *const *names, const double *target,
                                     const sbps_options *options, sbps_table **out,
                                     sbps_error *err);

/* How the values of a column lie in memory. */
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
    SBPS_BOOL,   /* a byte each: the levels false and true */
    SBPS_STRING, /* const char *, UTF-8; NULL is missing */
    SBPS_LEVEL   /* int32_t: `levels` from first_level on; below that is missing */
} sbps_column_type;

/* A column in memory, borrowed for the call. Members that are 0 say nothing. */
typedef struct {
    size_t struct_size; /* sizeof(sbps_column) */
    const char *name;   /* UTF-8 */
    sbps_column_type type;
    const void *values;
    ptrdiff_t stride;          /* bytes from value to value; 0: they lie side by side */
    const uint8_t *validity;   /* a bit a row, the lowest first: 0 is missing */
    const char *const *levels; /* of SBPS_LEVEL */
    size_t level_count;
    int32_t first_level; /* code of the first: 0, or 1 as R counts */
    bool ordered; /* levels keep the order they are listed in: the first is compared with */
} sbps_column;

/* A table of `rows` rows and `count` columns, as if they were read from a CSV file with these cells: formulas, text as
 * categories, groups, missing cells and what is told of them, all by the options of sbps_table_read, and with the
 * same numbers the same table. Types are those given: text stays text where it looks like numbers. Sentences speak of
 * table:17, row 17. `watch` may be NULL. With the option storage `given`, see docs/memory.md, nothing is copied but the
 * target: columns are then borrowed until the table is destroyed. */
SBPS_API sbps_status sbps_table_from_columns(size_t rows, size_t count,
                                             const sbps_column *columns,
                                             const sbps_options *options,
                                             sbps_convert_watch watch, void *self,
                                             sbps_table **out, sbps_error *err);
/* The same from an Arrow stream (below), batch by batch. The stream is released exactly once, also after a failure.
 * Read are booleans, whole numbers, floating-point numbers of any width, decimals of 128 bits, texts, dictionaries of
 * any of those, dates, timestamps and durations (in seconds); of others a sentence names the column, unless no one
 * wants it. */
SBPS_API sbps_status sbps_table_from_arrow(struct ArrowArrayStream *stream,
                                           const sbps_options *options,
                                           sbps_convert_watch watch, void *self,
                                           sbps_table **out, sbps_error *err);
/* A matrix of numbers most of which are 0, borrowed for the call: entries by rows, or by columns, as scipy's csr and csc and
 * R's dgCMatrix have them. Those of row (or column) k are at start[k] to start[k + 1] - 1, in increasing order. */
typedef struct {
    size_t struct_size; /* sizeof(sbps_sparse) */
    size_t columns;
    const char *const *names; /* of the columns, UTF-8 */
    bool by_columns;
    bool wide_start, wide_index; /* they are int64_t; else int32_t */
    const void *start;           /* one more than there are rows, or columns */
    const void *index;           /* the column of each entry, or its row */
    const double *values;        /* NAN is missing */
} sbps_sparse;

/* The table of the matrix' columns and of `count` more behind them, as sbps_table_from_columns makes it of columns that are
 * laid out in full; they never are. */
SBPS_API sbps_status sbps_table_from_sparse(size_t rows, const sbps_sparse *matrix,
                                            size_t count, const sbps_column *columns,
                                            const sbps_options *options,
                                            sbps_convert_watch watch, void *self,
                                            sbps_table **out, sbps_error *err);
/* Writes the text table `from` to `to` as a file that sbps_table_read maps instead of reading: for
 * tables larger than memory. Options as for sbps_table_read. `memory`: bytes the shuffle may use, 0
 * for a usual share; the file does not depend on it. `watch` may be NULL. The file appears whole or
 * not at all. */
SBPS_API sbps_status sbps_table_convert(const char *from, const char *to,
                                        const sbps_options *options, size_t memory,
                                        sbps_convert_watch watch, void *self, sbps_error *err);
/* For a model that needs none: one row that says nothing. */
SBPS_API sbps_status sbps_table_none(sbps_table **out, sbps_error *err);
SBPS_API size_t sbps_table_rows(const sbps_table *table);
/* Passes through all its rows that runs and modes have made so far: for whoever looks on from another
 * thread while one is set up. */
SBPS_API double sbps_table_passes(const sbps_table *table);
/* May be called from another thread or a signal handler: whoever sets up a run of it, or looks for a mode, gives up soon,
 * with SBPS_NO_FILE and a sentence, and so does every later one. Runs that are set up go on. */
SBPS_API void sbps_table_interrupt(sbps_table *table);
/* What the user should know of how it was read, a line each; "" when there is nothing to tell. */
SBPS_API const char *sbps_table_notes(const sbps_table *table);
SBPS_API void sbps_table_destroy(sbps_table *table);

/* Writes a synthetic CSV by the paper's recipe (7.1); `name` is a model that can simulate. The
 * weights it drew go to `truth` (CSV: name,value) unless NULL. */
SBPS_API sbps_status sbps_simulate(const char *name, size_t rows, size_t dim, uint64_t seed,
                                   const char *path, const char *truth, sbps_error *err);

/* The rows that the option generate makes, as CSV to the last bit, and their weights likewise. */
SBPS_API sbps_status sbps_generate(const char *name, size_t rows, size_t dim, uint64_t seed,
                                   const char *path, const char *truth, sbps_error *err);

/* ---- runs ---- */

typedef struct sbps_run sbps_run;

typedef struct {
    size_t struct_size; /* sizeof(sbps_progress) */
    bool warming_up;
    double share_done;   /* 0..1, of the stopping rule nearest to being met; never falls */
    double seconds;      /* since sampling began, set-up excluded */
    double seconds_left; /* guess; NAN while unknown */
    double proposals;    /* since the start, all chains, warm-up included */
    double proposals_per_second;
    double min_ess;       /* of every parameter and its square, from the path */
    double max_rhat;      /* NAN while unknown */
    double bias_estimate; /* posterior sd; NAN while unknown */
    size_t rounds;
    double
        rows_per_ess; /* rows looked at for an effective sample, warm-up excluded; NAN while unknown */
} sbps_progress;

/* Finds the mode and the metric and places the chains. The table is borrowed until destroy. */
SBPS_API sbps_status sbps_run_create(const sbps_table *table, const sbps_options *options,
                                     sbps_run **out, sbps_error *err);
/* What was chosen: priors, sizes, memory, sampler settings. Give back with sbps_free. */
SBPS_API sbps_status sbps_run_describe(const sbps_run *run, char **out, sbps_error *err);
/* One round of every chain; `*finished` when a stopping rule is met. Checkpoints and skeletons
 * are written here when the options ask for them. */
SBPS_API sbps_status sbps_run_advance(sbps_run *run, bool *finished, sbps_error *err);
/* Something went otherwise than expected and does not end the run, such as a checkpoint that could not be
 * written, or another sampler that took over: true when there is news of that kind, which is told once. */
SBPS_API bool sbps_run_warning(sbps_run *run, sbps_error *out);
/* Summaries of the effects of a table's groups to a CSV file: name, mean, mcse, sd, q5, q50, q95, ess_bulk, ess_tail,
 * rhat; by the draws made so far. The file appears whole or not at all; not at all after sbps_run_interrupt. */
SBPS_API sbps_status sbps_run_effects(const sbps_run *run, const char *path, sbps_error *err);
/* How effects were drawn: groups whose log likelihood was a polynomial in place of rows, and how far the two were apart at
 * draws of their effects. A mean is off by no more of the effect's sds. */
typedef struct {
    size_t struct_size;    /* sizeof(sbps_effects) */
    size_t draws;          /* of an effect, all chains together */
    size_t groups;         /* in all */
    size_t by_polynomials; /* of these */
    double error,
        worst; /* root of the mean square over those groups, and the largest; NAN: there are none */
} sbps_effects;
/* The same, and tells it. */
SBPS_API sbps_status sbps_run_effects_summary(const sbps_run *run, const char *path,
                                              sbps_effects *out, sbps_error *err);
/* May be called from another thread or a signal handler: the round under way ends early at the
 * end of the segment being flown, and advance reports it finished. Effects of groups that have yet
 * to be drawn stay out of results. */
SBPS_API void sbps_run_interrupt(sbps_run *run);
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
    /* What it is, whatever its name is: "intercept", "coefficient" of a column; of groups a standard
     * deviation "sd", a correlation "cor" or an "effect"; "" for any other, such as sigma. Static. */
    const char *part;
} sbps_parameter;

typedef enum { SBPS_TEXT, SBPS_CSV, SBPS_JSON } sbps_format;

SBPS_API sbps_status sbps_result_from_run(const sbps_run *run, sbps_result **out,
                                          sbps_error *err);
SBPS_API sbps_status sbps_result_read(const char *path, sbps_result **out, sbps_error *err);
/* By the ending of `path`: .nc NetCDF-4, .stan.csv one Stan CSV a chain, .csv draws. The file
 * appears whole or not at all. */
SBPS_API sbps_status sbps_result_write(const sbps_result *result, const char *path,
                                       sbps_error *err);
/* Whether a file looks like one that sbps_result_write made, of any of its formats. */
SBPS_API bool sbps_result_recognise(const char *path);
SBPS_API size_t sbps_result_dim(const sbps_result *result);
SBPS_API size_t sbps_result_chains(const sbps_result *result);
SBPS_API size_t sbps_result_draws(const sbps_result *result); /* per chain */
/* w[chain][draw][parameter], borrowed. */
SBPS_API const double *sbps_result_values(const sbps_result *result);
SBPS_API sbps_status sbps_result_parameter(const sbps_result *result, size_t index,
                                           sbps_parameter *out, sbps_error *err);
/* The summary table. Give back with sbps_free. */
SBPS_API sbps_status sbps_result_summary(const sbps_result *result, sbps_format format,
                                         char **out, sbps_error *err);
/* What is wrong with the run, in words, with what to do about it; `*findings` counts problems of the run and remarks
 * about its table. */
SBPS_API sbps_status sbps_result_diagnose(const sbps_result *result, char **out,
                                          size_t *findings, sbps_error *err);
/* The same as JSON: {"findings": [{"kind": "problem" or "remark", "seen", "meaning", "remedy"}, ...],
 * "checks", "problems", "remarks"}; where group effects were checked, "effects". */
SBPS_API sbps_status sbps_result_findings(const sbps_result *result, char **out,
                                          sbps_error *err);
/* Posteriors of expressions of parameters, such as x1 - x2 or exp(group=a), a row each; see docs/contrast.md. */
SBPS_API sbps_status sbps_result_contrast(const sbps_result *result,
                                          const char *const *expressions, size_t count,
                                          sbps_format format, char **out, sbps_error *err);
/* The run as one page of HTML that needs no other file; see docs/report.md. */
SBPS_API sbps_status sbps_result_page(const sbps_result *result, char **out, sbps_error *err);
/* Keeps what the user typed, for those who look at the run's file later. */
SBPS_API sbps_status sbps_result_set_command(sbps_result *result, const char *command,
                                             sbps_error *err);
SBPS_API void sbps_result_destroy(sbps_result *result);

/* ---- a look at a run under way ---- */

typedef struct sbps_watch sbps_watch;

/* A page on 127.0.0.1, for who knows its address, until the end; a thread of its own serves it. Draws are the same with
 * it and without. See docs/report.md. */
SBPS_API sbps_status sbps_watch_create(sbps_watch **out, sbps_error *err);
/* http://127.0.0.1:PORT/TOKEN, borrowed. */
SBPS_API const char *sbps_watch_address(const sbps_watch *watch);
/* What goes on while there is no run yet. */
SBPS_API void sbps_watch_notify(sbps_watch *watch, const char *message);
/* Between rounds. Cheap unless somebody looks and the page is old. `command` is what the user typed, or NULL. */
SBPS_API void sbps_watch_show(sbps_watch *watch, const sbps_run *run, const char *command);
/* The last page, with these words, for who looks at the time; then it is over. `run` NULL: there is none. A watch that is
 * NULL is fine. */
SBPS_API void sbps_watch_end(sbps_watch *watch, const sbps_run *run, const char *command,
                             const char *message);

/* ---- rows to come ---- */

/* Rows that lie in memory, for what otherwise reads a file of them: the same cells give the same answer. */
typedef struct {
    size_t struct_size; /* sizeof(sbps_frame) */
    size_t rows,
        count; /* columns: as sbps_table_from_columns has them, borrowed for the call */
    const sbps_column *columns;
    /* In the place of columns: a stream, as sbps_table_from_arrow has it, which is read once and released. */
    struct ArrowArrayStream *stream;
    const sbps_sparse *sparse; /* whose columns are before the others; NULL: none */
} sbps_frame;

typedef struct {
    size_t struct_size; /* sizeof(sbps_prediction) */
    const char *
        kind; /* "mean" of the response, "linear" predictor, a new "outcome", the log "density" of the outcome that a row has; NULL: mean */
    const char *
        new_levels; /* of groups: "error", or "prior": effects are drawn from their law; NULL: error */
    bool draws;       /* all draws of each row in place of what they say */
    size_t max_draws; /* evenly spaced ones, where there are more; 0: all */
    uint64_t seed;    /* of outcomes and of effects of new levels */
    unsigned threads; /* 0: as many as there are processors */
    /* Where the CSV goes (with draws NetCDF, where it ends in .nc): a file, which appears whole or not at all; NULL: `take` gets it piece by piece, and
     * returns false where it cannot be taken. */
    const char *path;
    bool (*take)(void *self, const char *bytes, size_t count);
    void *self;
    const char *encoding; /* of the text: "utf-8", "latin1", "windows-1252"; NULL: utf-8 */
    /* Rows in memory in the place of a file: `data` is then what sentences call them; NULL: table. */
    const sbps_frame *frame;
} sbps_prediction;

typedef struct {
    size_t struct_size; /* sizeof(sbps_predicted) */
    size_t rows;
    size_t lacking,
        not_finite; /* rows that have no prediction: a cell is missing, or a term is not finite */
    char column[64];         /* of the first of those */
    size_t draws, all_draws; /* taken, and there */
    double seconds;
    bool
        all_levels_new; /* the run kept no effects: every level of a group counted as a new one */
} sbps_predicted;

/* Predictions of the rows of `data` (CSV, plain or packed; - is standard input), treated as those of the run were: CSV with
 * columns row, (class,) mean, sd, q5, q50, q95, see docs/predict.md. `run` is the result's file, for sentences. */
SBPS_API sbps_status sbps_predict(const sbps_result *result, const char *run, const char *data,
                                  const sbps_prediction *how, sbps_predicted *out,
                                  sbps_error *err);

typedef struct {
    size_t struct_size; /* sizeof(sbps_scoring) */
    size_t
        rows; /* leave-one-out, checks: rows to look at; 0: all; SIZE_MAX: all where that is cheap, else a sample */
    size_t max_draws;     /* evenly spaced ones, where there are more; 0: all */
    uint64_t seed;        /* of the sample and of responses drawn */
    unsigned threads;     /* 0: as many as there are processors */
    const char *encoding; /* of the text, as in sbps_prediction */
    const sbps_frame *
        frame; /* likewise; a stream will not do for several runs, nor for a page by all rows */
} sbps_scoring;

/* How well the run predicts rows that it has not seen, whose target is known: SBPS_TEXT or SBPS_JSON, see
 * docs/score.md. Give back with sbps_free, as what follows. */
SBPS_API sbps_status sbps_score(const sbps_result *result, const char *run, const char *data,
                                const sbps_scoring *how, sbps_format format, char **out,
                                sbps_error *err);
/* Leave-one-out on the run's own rows, by Pareto-smoothed importance sampling; see docs/loo.md. */
SBPS_API sbps_status sbps_loo(const sbps_result *result, const char *run, const char *data,
                              const sbps_scoring *how, sbps_format format, char **out,
                              sbps_error *err);
/* Posterior predictive checks of a table, the run's own or another, and sensitivity to priors and likelihood: what is off,
 * how much, what to do; see docs/check.md. */
SBPS_API sbps_status sbps_check(const sbps_result *result, const char *run, const char *data,
                                const sbps_scoring *how, sbps_format format, char **out,
                                sbps_error *err);
/* Several runs on the same rows, the best first. */
SBPS_API sbps_status sbps_compare(const sbps_result *const *results, const char *const *runs,
                                  size_t count, const char *data, const sbps_scoring *how,
                                  sbps_format format, char **out, sbps_error *err);
/* The page of a run with what its own table says of it; options as for sbps_loo. `data` NULL: as sbps_result_page. */
SBPS_API sbps_status sbps_result_page_data(const sbps_result *result, const char *run,
                                           const char *data, const sbps_scoring *how,
                                           char **out, sbps_error *err);
/* The file that the run's table was read from; NULL: none. Borrowed. */
SBPS_API const char *sbps_result_data(const sbps_result *result);

/* ---- the mode, and the normal approximation there ---- */

typedef struct sbps_mode sbps_mode;

typedef struct {
    size_t struct_size;   /* sizeof(sbps_mode_info) */
    const char *method;   /* that found it */
    double potential;     /* U at the mode */
    double nll;           /* minus the log-likelihood there */
    double gradient_norm; /* |grad U| */
    double distance; /* sqrt(g' H^-1 g): posterior sd that may be left to the mode itself */
    double ridge;    /* that the Hessian needed to be positive definite, relative; 0 mostly */
    size_t iterations;
    double epochs; /* passes through the table that sag made; NAN for other methods */
} sbps_mode_info;

/* As the options say (method, tolerance, max-epochs, start, seed; model and priors). Nothing is
 * borrowed. */
SBPS_API sbps_status sbps_mode_find(const sbps_table *table, const sbps_options *options,
                                    sbps_mode **out, sbps_error *err);
SBPS_API void sbps_mode_describe(const sbps_mode *mode, sbps_mode_info *out);
SBPS_API size_t sbps_mode_dim(const sbps_mode *mode);
/* Borrowed; NULL past the end. */
SBPS_API const char *sbps_mode_name(const sbps_mode *mode, size_t index);
/* dim, borrowed; a positive parameter such as sigma as itself. */
SBPS_API const double *sbps_mode_values(const sbps_mode *mode);
/* CSV: name,value, which the option `start` reads. Give back with sbps_free. */
SBPS_API sbps_status sbps_mode_report(const sbps_mode *mode, sbps_format format, char **out,
                                      sbps_error *err);
SBPS_API void sbps_mode_destroy(sbps_mode *mode);

typedef struct sbps_laplace sbps_laplace;

/* The normal with the mode as its mean and the inverse Hessian as its covariance, positive parameters
 * on the log scale: log(sigma). The mode is borrowed until destroy. */
SBPS_API sbps_status sbps_laplace_create(const sbps_mode *mode, sbps_laplace **out,
                                         sbps_error *err);
SBPS_API const char *sbps_laplace_name(const sbps_laplace *laplace, size_t index);
/* dim, dim and dim*dim, borrowed. */
SBPS_API const double *sbps_laplace_mean(const sbps_laplace *laplace);
SBPS_API const double *sbps_laplace_sd(const sbps_laplace *laplace);
SBPS_API const double *sbps_laplace_covariance(const sbps_laplace *laplace);
/* Quantile of minus the log-likelihood per row, NLL/N + chi^2(dim)/2N; NAN unless 0 < p < 1. */
SBPS_API double sbps_laplace_nll(const sbps_laplace *laplace, double p);
/* CSV: name,mean,sd and the columns of the covariance, which the option `start` reads. */
SBPS_API sbps_status sbps_laplace_report(const sbps_laplace *laplace, sbps_format format,
                                         char **out, sbps_error *err);
SBPS_API void sbps_laplace_destroy(sbps_laplace *laplace);

/* A report to a file, which appears whole or not at all. */
SBPS_API sbps_status sbps_text_write(const char *text, const char *path, sbps_error *err);

#ifdef __cplusplus
}
#endif

#endif
