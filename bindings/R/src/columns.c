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

/* A column as long as the rows, of a type that is borrowed as it lies. */
static void check_column(SEXP values, size_t rows, const char *name)
{
    int type = TYPEOF(values);
    if (type != REALSXP && type != INTSXP && type != STRSXP)
        Rf_error("column '%s' is of type %s: expected numbers, a factor or texts", name,
                 Rf_type2char((SEXPTYPE)type));
    if ((size_t)Rf_xlength(values) != rows)
        Rf_error("variable lengths differ: '%s' has %.0f values for %.0f rows", name,
                 (double)Rf_xlength(values), (double)rows);
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
    SEXP start = slot_of(matrix, "p"), index = slot_of(matrix, "i");
    size_t count = (size_t)INTEGER(slot_of(matrix, "Dim"))[1];
    want_vector(names, STRSXP, count, "names of the sparse matrix");
    want_vector(start, INTSXP, count + 1, "starts of columns");
    want_vector(index, INTSXP, (size_t)INTEGER(start)[count], "rows of entries");
    want_vector(slot_of(matrix, "x"), REALSXP, (size_t)INTEGER(start)[count], "entries");
    const char **name = (const char **)R_alloc(count + 1, sizeof *name);
    for (size_t k = 0; k < count; k++) name[k] = utf8(STRING_ELT(names, (R_xlen_t)k));
    return (sbps_sparse){.struct_size = sizeof(sbps_sparse),
                         .columns = count,
                         .names = name,
                         .by_columns = true,
                         .start = INTEGER(start),
                         .index = INTEGER(index),
                         .values = REAL(slot_of(matrix, "x"))};
}

/* Columns of a list, by their names. */
static column_set list_of(SEXP data, SEXP names, size_t rows)
{
    column_set out = {.rows = rows, .count = (size_t)Rf_xlength(data)};
    want_vector(data, VECSXP, 0, "columns");
    if (out.count > 0) want_vector(names, STRSXP, out.count, "names of columns");
    out.column = (sbps_column *)R_alloc(out.count + 1, sizeof *out.column);
    for (size_t k = 0; k < out.count; k++) {
        SEXP values = VECTOR_ELT(data, (R_xlen_t)k);
        const char *name = utf8(STRING_ELT(names, (R_xlen_t)k));
        check_column(values, rows, name);
        out.column[k] = column_of(values, name);
    }
    return out;
}

static column_set entries_of(SEXP data)
{
    want_vector(data, VECSXP, 2, "a sparse matrix and columns");
    SEXP matrix = VECTOR_ELT(data, 0), beside = VECTOR_ELT(data, 1);
    want_vector(slot_of(matrix, "Dim"), INTSXP, 2, "size of the sparse matrix");
    size_t rows = (size_t)INTEGER(slot_of(matrix, "Dim"))[0];
    column_set out = list_of(beside, Rf_getAttrib(beside, R_NamesSymbol), rows);
    out.has_sparse = true;
    out.sparse = sparse_of(matrix);
    return out;
}

column_set columns_of(SEXP data, SEXP names)
{
    if (Rf_inherits(data, "sbps_entries")) return entries_of(data);
    if (!Rf_isMatrix(data)) {
        bool some = TYPEOF(data) == VECSXP && Rf_xlength(data) > 0;
        return list_of(data, names, some ? (size_t)Rf_xlength(VECTOR_ELT(data, 0)) : 0);
    }
    column_set out = {.rows = (size_t)Rf_nrows(data), .count = (size_t)Rf_ncols(data)};
    want_vector(data, REALSXP, 0, "a matrix");
    want_vector(names, STRSXP, out.count, "names of columns");
    out.column = (sbps_column *)R_alloc(out.count + 1, sizeof *out.column);
    put_matrix(data, names, &out);
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
