/* The members of a result as tables, walked by the code that creates, writes and reads results.
 * Every table ends with a NULL name. */
#ifndef STORE_LAYOUT_H
#define STORE_LAYOUT_H

#include "store/result.h"

typedef struct {
    const char *name;              /* of the variable in the file */
    size_t offset;                 /* of a double * in result */
    const char *long_name, *units; /* units "1": a pure number */
    bool later;                    /* missing in files of earlier versions: NAN */
} array_field;

extern const array_field layout_path[];  /* dim numbers each: group `path` */
extern const array_field layout_model[]; /* dim numbers each: group `model` */
extern const array_field layout_stats[]; /* chains x draws numbers each: group `sample_stats` */

typedef struct {
    const char *name; /* of the variable in the file */
    size_t offset;    /* of a char ** in result */
    const char *long_name;
} label_field;

extern const label_field layout_labels[]; /* dim texts each: group `model` */

typedef struct {
    const char *name; /* of the attribute in the file */
    size_t offset;    /* in result_info */
} info_field;

extern const info_field layout_texts[];    /* char * */
extern const info_field layout_numbers[];  /* double */
extern const info_field layout_switches[]; /* bool */

/* Attribute with the design. */
#define LAYOUT_DESIGN "design"

/* Attribute of an option: this, followed by its name with _ for -. */
#define LAYOUT_OPTION "option_"

static inline double **array_slot(result *r, const array_field *f)
{
    return (double **)((char *)r + f->offset);
}

static inline const double *array_of(const result *r, const array_field *f)
{
    return *(double *const *)((const char *)r + f->offset);
}

static inline char ***label_slot(result *r, const label_field *f)
{
    return (char ***)((char *)r + f->offset);
}

static inline char **label_of(const result *r, const label_field *f)
{
    return *(char **const *)((const char *)r + f->offset);
}

static inline char **info_text(result_info *info, const info_field *f)
{
    return (char **)((char *)info + f->offset);
}

static inline double *info_number(result_info *info, const info_field *f)
{
    return (double *)((char *)info + f->offset);
}

static inline bool *info_switch(result_info *info, const info_field *f)
{
    return (bool *)((char *)info + f->offset);
}

#endif
