/* What the columns of an Arrow stream are, by their format strings. */
#ifndef INGEST_ARROW_SCHEMA_H
#define INGEST_ARROW_SCHEMA_H

#include "ingest/memory/field_reader.h"

/* A column before its values are there; `levels` is of a dictionary. */
typedef struct {
    field model, levels;
    bool coded;
} arrow_column;

/* Fills the column and what is known of it; borrows the schema. */
void arrow_describe(const struct ArrowSchema *schema, arrow_column *column, field_about *about);

#endif
