/* Predictions by all draws as a NetCDF file that grows row by row and appears whole or not at all: classic NetCDF with
 * 64-bit offsets, which every reader knows and which says why a write has failed.
 *
 *   row(row)                         as numbered in the text, from 1
 *   class(class, letters)            models of classes alone
 *   prediction(row, [class,] draw)   NaN where a row has none
 *
 * A file belongs to one thread at a time; several files may be written at once. */
#ifndef STORE_PREDICTION_FILE_H
#define STORE_PREDICTION_FILE_H

#include "core/status.h"

typedef struct prediction_file prediction_file;

typedef struct {
    size_t draws;
    size_t classes; /* 0: one line a row */
    const char *const *class;
    const char *kind, *run; /* attributes: what is predicted, and by which run */
} prediction_shape;

/* Does the name ask for one? It ends in .nc. */
bool prediction_file_matches(const char *path);
/* On success end with commit or abandon. */
sbps_status prediction_file_open(const char *path, const prediction_shape *shape,
                                 prediction_file **out, sbps_error *err);
/* The next row: classes * draws numbers, draws of a class together. */
sbps_status prediction_file_put(prediction_file *f, size_t row, const double *value,
                                sbps_error *err);
sbps_status prediction_file_commit(prediction_file *f, sbps_error *err);
void prediction_file_abandon(prediction_file *f);

#endif
