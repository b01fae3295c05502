# Sparse matrices of the package Matrix are passed without copying: entries by columns, and additional dense columns.

# The named columns of a matrix as a dgCMatrix, and additional columns.
entries <- function(matrix, names, other) {
    need("Matrix", "data")
    if (is.null(colnames(matrix))) raise("SBPS_BAD_ARG", "data: expected a matrix with names of its columns")
    matrix <- matrix[, colnames(matrix) %in% names, drop = FALSE]
    for (kind in c("dMatrix", "generalMatrix", "CsparseMatrix")) matrix <- methods::as(matrix, kind)
    structure(list(matrix = matrix, beside = other), class = "sbps_entries")
}

# Numbers that a formula names and that are not columns of the matrix; NULL: some need a conversion.
other_columns <- function(formula, names, rows) {
    values <- lapply(stats::setNames(nm = names), function(name) get0(name, environment(formula), mode = "numeric"))
    ready <- vapply(values, function(x) is.null(dim(x)) && !is.object(x) && length(x) == rows && !anyNA(x), NA)
    if (all(ready)) lapply(values, as.double)
}

# The sparse rows for the library; NULL: the matrix must be converted to a dense one.
borrowable_entries <- function(formula, data, arguments) {
    if (is.null(colnames(data)) || !is.null(arguments$subset) || length(computed_calls(formula)) || !is.null(arguments$contrasts)) return(NULL)
    own <- lapply(arguments$own, as.double)
    other <- other_columns(formula, setdiff(c(all.vars(formula), arguments$also), c(".", colnames(data))), nrow(data))
    if (is.null(other) || any(lengths(own) != nrow(data)) || any(vapply(own, anyNA, NA))) return(NULL)
    rows <- entries(data, required_names(formula, colnames(data), arguments$also), c(other, own))
    if (!anyNA(rows$matrix@x)) rows
}

# True if the library computes all columns of a fit's formula.
is_plain <- function(fit) !length(fit$recipe$calls) && !length(fit$recipe$codings) && !length(fit$said)

dim.sbps_entries <- function(x) c(nrow(x$matrix), ncol(x$matrix) + length(x$beside))

as.data.frame.sbps_entries <- function(x, ...) {
    out <- as.data.frame(as.matrix(x$matrix), optional = TRUE)
    out[names(x$beside)] <- x$beside
    out
}
