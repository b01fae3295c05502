/* Vectors of R as columns of a table: numbers where they lie, factors as codes with their levels in
 * their order. */
#include "sbps_r.h"

static const char *const *levels_of(SEXP factor, size_t *count)
{
    SEXP levels = Rf_getAttrib(factor, R_LevelsSymbol);
    *count = (size_t)Rf_xlength(levels);
    const char **out = (const char **)R_alloc(*count + 1, sizeof *out);
    for (size_t k = 0; k < *count; k++) out[k] = utf8(STRING_ELT(levels, (R_xlen_t)k));
    return out;
}

static const char *const *texts_of(SEXP texts)
{
    size_t count = (size_t)Rf_xlength(texts);
    const char **out = (const char **)R_alloc(count + 1, sizeof *out);
    for (size_t i = 0; i < count; i++) {
        SEXP text = STRING_ELT(texts, (R_xlen_t)i);
        out[i] = text == NA_STRING ? NULL : utf8(text);
    }
    return out;
}

static sbps_column column_of(SEXP values, const char *name)
{
    sbps_column c = {.struct_size = sizeof c, .name = name};
    if (Rf_isFactor(values)) {
        c.type = SBPS_LEVEL;
        c.values = INTEGER(values);
        c.levels = levels_of(values, &c.level_count);
        c.first_level = 1; /* NA_integer_ lies below: missing */
        c.ordered = true;
    } else if (TYPEOF(values) == STRSXP) {
        c.type = SBPS_STRING;
        c.values = texts_of(values);
    } else if (TYPEOF(values) == INTSXP) {
        c.type = SBPS_INT32;
        c.values = INTEGER(values);
    } else {
        c.type = SBPS_DOUBLE;
        c.values = REAL(values);
    }
    return c;
}

/* Its columns lie one behind another: nothing is copied. */
static void put_matrix(SEXP matrix, SEXP names, column_set *to)
{
    const double *values = REAL(matrix);
    for (size_t k = 0; k < to->count; k++)
        to->column[k] = (sbps_column){.struct_size = sizeof(sbps_column),
                                      .name = utf8(STRING_ELT(names, (R_xlen_t)k)),
                                      .type = SBPS_DOUBLE,
                                      .values = values + k * to->rows};
}

static SEXP slot_of(SEXP object, const char *name)
{
    return R_do_slot(object, Rf_install(name));
}

/* A dgCMatrix: entries by columns. */
static sbps_sparse sparse_of(SEXP matrix)
{
    SEXP names = VECTOR_ELT(slot_of(matrix, "Dimnames"), 1);
    size_t count = (size_t)Rf_xlength(names);
    const char **name = (const char **)R_alloc(count + 1, sizeof *name);
    for (size_t k = 0; k < count; k++) name[k] = utf8(STRING_ELT(names, (R_xlen_t)k));
    return (sbps_sparse){.struct_size = sizeof(sbps_sparse),
                         .columns = count,
                         .names = name,
                         .by_columns = true,
                         .start = INTEGER(slot_of(matrix, "p")),
                         .index = INTEGER(slot_of(matrix, "i")),
                         .values = REAL(slot_of(matrix, "x"))};
}

static column_set entries_of(SEXP data)
{
    SEXP matrix = VECTOR_ELT(data, 0), beside = VECTOR_ELT(data, 1);
    column_set out = columns_of(beside, Rf_getAttrib(beside, R_NamesSymbol));
    out.rows = (size_t)INTEGER(slot_of(matrix, "Dim"))[0];
    out.has_sparse = true;
    out.sparse = sparse_of(matrix);
    return out;
}

column_set columns_of(SEXP data, SEXP names)
{
    if (Rf_inherits(data, "sbps_entries")) return entries_of(data);
    column_set out = {.count = (size_t)Rf_xlength(names)};
    out.column = (sbps_column *)R_alloc(out.count + 1, sizeof *out.column);
    if (Rf_isMatrix(data)) {
        out.rows = (size_t)Rf_nrows(data);
        put_matrix(data, names, &out);
        return out;
    }
    out.rows = out.count ? (size_t)Rf_xlength(VECTOR_ELT(data, 0)) : 0;
    for (size_t k = 0; k < out.count; k++)
        out.column[k] =
            column_of(VECTOR_ELT(data, (R_xlen_t)k), utf8(STRING_ELT(names, (R_xlen_t)k)));
    return out;
}

static SEXP names_of(SEXP data)
{
    if (!Rf_isMatrix(data)) return Rf_getAttrib(data, R_NamesSymbol);
    SEXP both = Rf_getAttrib(data, R_DimNamesSymbol);
    return Rf_isNull(both) ? both : VECTOR_ELT(both, 1);
}

void rows_given(SEXP data, row_set *out)
{
    *out = (row_set){.in_memory = !Rf_isNull(data) && !Rf_isString(data)};
    if (!out->in_memory) {
        out->name = only_text(data);
        return;
    }
    const column_set *own = &out->columns;
    out->columns = columns_of(data, names_of(data));
    out->name = "data";
    out->frame = (sbps_frame){.struct_size = sizeof out->frame,
                              .rows = own->rows,
                              .count = own->count,
                              .columns = own->column,
                              .sparse = own->has_sparse ? &own->sparse : NULL};
}
