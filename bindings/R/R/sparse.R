# Sparse matrices of the package Matrix are handed over as they lie: entries by columns, and plain columns beside them.

# The columns that are named, of which there is a dgCMatrix.
entries <- function(matrix, names, beside) {
    need("Matrix", "data")
    if (is.null(colnames(matrix))) raise("SBPS_BAD_ARG", "data: expected a matrix with names of its columns")
    matrix <- matrix[, colnames(matrix) %in% names, drop = FALSE]
    for (kind in c("dMatrix", "generalMatrix", "CsparseMatrix")) matrix <- methods::as(matrix, kind)
    structure(list(matrix = matrix, beside = beside), class = "sbps_entries")
}

# Numbers that a formula names and that are no columns of the matrix; NULL: some cannot be had as they are.
found_beside <- function(formula, names, rows) {
    values <- lapply(stats::setNames(nm = names), function(name) get0(name, environment(formula), mode = "numeric"))
    ready <- vapply(values, function(x) is.null(dim(x)) && !is.object(x) && length(x) == rows && !anyNA(x), NA)
    if (all(ready)) lapply(values, as.double)
}

# What the library is given of a sparse matrix; NULL: R has to lay it out.
entries_ready <- function(formula, data, said) {
    if (is.null(colnames(data)) || !is.null(said$subset) || length(strange_calls(formula)) || !is.null(said$contrasts)) return(NULL)
    own <- lapply(said$own, as.double)
    beside <- found_beside(formula, setdiff(c(all.vars(formula), said$also), c(".", colnames(data))), nrow(data))
    if (is.null(beside) || any(lengths(own) != nrow(data)) || any(vapply(own, anyNA, NA))) return(NULL)
    rows <- entries(data, wanted(formula, colnames(data), said$also), c(beside, own))
    if (!anyNA(rows$matrix@x)) rows
}

# Is a fit's formula what the library itself computes, column by column?
is_plain <- function(fit) !length(fit$recipe$calls) && !length(fit$recipe$codings) && !length(fit$said)

dim.sbps_entries <- function(x) c(nrow(x$matrix), ncol(x$matrix) + length(x$beside))

as.data.frame.sbps_entries <- function(x, ...) {
    out <- as.data.frame(as.matrix(x$matrix), optional = TRUE)
    out[names(x$beside)] <- x$beside
    out
}
