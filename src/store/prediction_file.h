/* Predictions for every draw as an atomic NetCDF file, written row by row in classic format
 * with 64-bit offsets, which every reader supports and which reports why a write failed.
 *
 *   row(row)                         as numbered in the text, from 1
 *   class(class, letters)            models of classes only
 *   prediction(row, [class,] draw)   NaN for a row without predictions
 *
 * A file belongs to one thread at a time; several files may be written at the same time. */
#ifndef STORE_PREDICTION_FILE_H
#define STORE_PREDICTION_FILE_H

#include "core/status.h"

typedef struct prediction_file prediction_file;

typedef struct {
    size_t draws;
    size_t classes; /* 0: one line per row */
    const char *const *class;
    const char *kind, *run; /* attributes: kind of prediction, file of the run */
} prediction_shape;

/* True if the name ends in .nc. */
bool prediction_file_matches(const char *path);
/* Creates the file; *out is the caller's, to be ended with commit or abandon. */
sbps_status prediction_file_open(const char *path, const prediction_shape *shape,
                                 prediction_file **out, sbps_error *err);
/* Writes the next row: classes * draws numbers, the draws of a class together. */
sbps_status prediction_file_put(prediction_file *f, size_t row, const double *value,
                                sbps_error *err);
sbps_status prediction_file_commit(prediction_file *f, sbps_error *err);
void prediction_file_abandon(prediction_file *f);

#endif
