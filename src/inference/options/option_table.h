/* The option table: one line per option, and the types of their values. */
#ifndef INFERENCE_OPTION_TABLE_H
#define INFERENCE_OPTION_TABLE_H

#include "inference/options/options.h"

typedef struct option_spec option_spec;

/* How values are read from text and printed. */
typedef struct {
    /* Checks `text` and stores its value at `field`; field NULL: checks only. `label` names the
     * option at the beginning of an error message. */
    sbps_status (*parse)(const option_spec *spec, const char *label, const char *text,
                         void *field, sbps_error *err);
    /* Prints the value at `field` as text that `parse` reads back to the same value. */
    void (*print)(const option_spec *spec, const void *field, size_t size, char *text);
} option_type;

/* A line of the table. Members that do not concern its type are 0. */
struct option_spec {
    const char *name;
    const option_type *type;
    size_t field;          /* offset in sbps_options */
    const char *argument;  /* name of the value in help; of a choice its words: "on|off" */
    const char *fallback;  /* default, as text */
    const char *auto_text; /* text for REAL_AUTO or SIZE_AUTO; NULL: no such value */
    double low, high;      /* reals: low < x <= high, or low <= x if `closed` */
    bool closed;
    size_t min, max; /* sizes, both inclusive */
    const char *group, *help;
    sbps_file_use file;  /* what is done with the file named by the value */
    bool affects_path;   /* false: changes only where and when a run ends */
    bool for_mode;       /* also an option of map and laplace */
    bool not_for_sample; /* an option of map and laplace only */
};

extern const option_type option_text_type, option_choice_type, option_real_type,
    option_size_type, option_switch_type;

/* The number of lines, including a prior option for each auxiliary parameter of a model. */
size_t option_count(void);
/* Line `index` of the table, by value: lines of auxiliary parameters are made on demand. */
option_spec option_at(size_t index);

#define OPTION_MAX 128 /* upper bound of option_count(), for arrays on the stack */

/* Index of the option of that name, or option_count(). */
size_t option_find(const char *name);

#endif
