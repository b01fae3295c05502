/* One line of the option table, and the types its values can have. */
#ifndef INFERENCE_OPTION_SPEC_H
#define INFERENCE_OPTION_SPEC_H

#include "inference/options/options.h"

typedef struct option_spec option_spec;

typedef struct {
    /* Checks `text` and stores the value at `field`; NULL: only checks. `label` opens the
     * sentence of a failure and names the option. */
    sbps_status (*parse)(const option_spec *spec, const char *label, const char *text,
                         void *field, sbps_error *err);
    /* The value at `field` as text that parse reads back to the same value. */
    void (*print)(const option_spec *spec, const void *field, size_t size, char *text);
} option_type;

struct option_spec {
    const char *name;
    const option_type *type;
    size_t field;         /* offset in sbps_options */
    const char *argument; /* a choice lists its words here: "on|off" */
    const char *fallback;
    const char
        *auto_text; /* stands for REAL_AUTO or SIZE_AUTO; NULL: the option has no such value */
    double low, high; /* reals: low < x <= high, or low <= x when `closed` */
    bool closed;
    size_t min, max; /* sizes, both included */
    const char *group, *help;
    sbps_file_use file; /* what is done with the file that the value names */
    bool affects_path;
    bool for_mode;       /* of map and laplace too */
    bool not_for_sample; /* of them alone */
};

extern const option_type option_text_type, option_choice_type, option_real_type,
    option_size_type, option_switch_type;

/* Lines of the table, and in their place those that models add: a prior for each of their auxiliaries. */
size_t option_count(void);
option_spec option_at(size_t index);

#define OPTION_MAX 128 /* more than there are options: room for one flag each on the stack */

/* Where option_at has it, or option_count(). */
size_t option_find(const char *name);
/* Fails with the nearest name; `label` opens the sentence. */
sbps_status option_unknown(const char *label, const char *name, sbps_error *err);
/* parse into the options' own field, and remember that it was given. */
sbps_status option_store(sbps_options *options, size_t index, const char *label,
                         const char *text, sbps_error *err);

#endif
