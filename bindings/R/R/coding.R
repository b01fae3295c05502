# Formulas of R for the library, which supports treatment contrasts and a list of functions. R computes other terms as columns, and the
# formula refers to these. Without such terms the formula is passed on unchanged.
known_functions <- c("log", "exp", "sqrt", "abs", "log2", "log10", "log1p", "expm1", "sin", "cos", "tan", "tanh", "sinh", "cosh", "atan", "floor",
                     "ceiling", "I", "scale", "poly", "bs", "ns", "factor", "relevel", "cut", "offset", "+", "-", "*", "/", "^", "(", "c", "cbind",
                     "trials", "weights", "TRUE", "FALSE", "T", "F", "Inf")
structure_words <- c("~", "+", "-", ":", "*", "/", "^", "%in%", "(", "|", "||")

text_of_call <- function(x) paste(deparse(x, width.cutoff = 500L), collapse = " ")
is_call_of <- function(x, words) is.call(x) && is.name(x[[1]]) && as.character(x[[1]]) %in% words

# Whether the library computes a call. `outside`: names of variables that are neither columns nor as long as the rows.
library_knows <- function(x, known, outside = character()) {
    own <- setdiff(all.names(x), all.vars(x))
    all(own %in% known) && !any(all.vars(x) %in% outside) && (!"factor" %in% own || is_call_of(x, "factor") && length(x) == 2 && is.name(x[[2]]))
}

# Applies f to every operand of a formula, and to the argument of an offset.
map_pieces <- function(x, f) {
    if (!is_call_of(x, c(structure_words, "offset"))) return(f(x))
    power <- is_call_of(x, "^")
    for (k in seq_along(x)[-1]) if (!(power && k == 3)) x[[k]] <- map_pieces(x[[k]], f)
    x
}

# Calls of functions that the library does not support, by the names of their columns.
computed_calls <- function(formula, known = known_functions, outside = character()) {
    found <- list()
    note <- function(x) {
        if (is.call(x) && !library_knows(x, known, outside)) found[[text_of_call(x)]] <<- x
        x
    }
    map_pieces(formula[[3]], note)
    left <- formula[[2]]
    if (is.call(left) && !is_call_of(left, c("cbind", "|")) && !library_knows(left, known, outside)) found[[text_of_call(left)]] <- left
    found
}

name_calls <- function(formula, calls) {
    rename <- function(x) if (is.call(x) && text_of_call(x) %in% names(calls)) as.name(text_of_call(x)) else x
    formula[[3]] <- map_pieces(formula[[3]], rename)
    formula[[2]] <- rename(formula[[2]])
    formula
}

# ---- factors with other contrasts than treatment, matrices ----

bars_of <- function(x) {
    if (!is.call(x)) return(list())
    if (is_call_of(x, c("|", "||"))) return(list(x))
    unlist(lapply(as.list(x)[-1], bars_of), recursive = FALSE)
}

# The right side without its groups; NULL if there is nothing else.
fixed_terms <- function(x) {
    if (is_call_of(x, "(") && length(bars_of(x))) return(NULL)
    if (!is_call_of(x, c("+", "-")) || !length(bars_of(x))) return(x)
    kept <- lapply(as.list(x)[-1], fixed_terms)
    if (length(kept) == 1) return(if (!is.null(kept[[1]])) as.call(c(x[[1]], kept)))
    if (is.null(kept[[2]])) return(kept[[1]])
    if (is.null(kept[[1]])) return(if (is_call_of(x, "-")) call("-", kept[[2]]) else kept[[2]])
    as.call(c(x[[1]], kept))
}

fixed_part <- function(formula) {
    right <- fixed_terms(formula[[3]])
    formula[[3]] <- if (is.null(right)) 1 else right
    formula
}

used_levels <- function(x) if (all(tabulate(x, nlevels(x)) > 0)) x else droplevels(x)

# Columns that replace a factor or matrix: its contrasts, and all levels for terms that need them. NULL: the column is numeric.
coding_of <- function(x, name) {
    if (is.matrix(x) && (is.numeric(x) || is.logical(x))) {
        columns <- if (ncol(x) == 1) name else paste0(name, if (is.null(colnames(x))) seq_len(ncol(x)) else colnames(x))
        return(list(kind = "matrix", names = columns, all = columns, usual = FALSE))
    }
    if (is.logical(x) || is.character(x)) x <- factor(x)
    if (!is.factor(x)) return(NULL)
    x <- used_levels(x)
    if (nlevels(x) < 2) return(NULL)
    contrast <- stats::contrasts(x)
    columns <- if (is.null(colnames(contrast))) seq_len(ncol(contrast)) else colnames(contrast)
    usual <- isTRUE(all.equal(unname(contrast), unname(stats::contr.treatment(nlevels(x))))) && identical(columns, levels(x)[-1])
    list(kind = "factor", levels = levels(x), matrix = unname(contrast), names = paste0(name, columns), all = paste0(name, levels(x)), usual = usual)
}

# The columns of a coding for rows x, by their names.
coded <- function(coding, x, name) {
    if (coding$kind == "matrix") {
        if (!is.matrix(x) || ncol(x) != length(coding$names)) raise("SBPS_BAD_DATA", sprintf("column '%s': expected a matrix of %d columns", name, length(coding$names)))
        return(stats::setNames(lapply(seq_len(ncol(x)), function(k) as.double(x[, k])), coding$names))
    }
    code <- match(as.character(x), coding$levels)
    strange <- which(is.na(code) & !is.na(x))
    if (length(strange)) raise("SBPS_BAD_DATA", sprintf("data: row %d: the run had no level '%s' of '%s'", strange[1], as.character(x)[strange[1]], name))
    out <- stats::setNames(lapply(seq_along(coding$names), function(k) coding$matrix[code, k]), coding$names)
    every <- stats::setNames(lapply(seq_along(coding$levels), function(k) as.double(code == k)), coding$all)
    c(out, every[setdiff(coding$all, coding$names)])
}

# Adds the coded columns. Other columns may not have their names.
add_coded <- function(columns, coding, name) {
    new <- coded(coding, columns[[name]], name)
    twice <- setdiff(intersect(names(new), names(columns)), name)
    if (length(twice)) {
        raise("SBPS_BAD_DATA", sprintf("two columns would be named '%s', one of them for '%s': rename the column '%s' of the data", twice[1], name, twice[1]))
    }
    columns[names(new)] <- new
    columns
}

quoted <- function(names) sprintf("`%s`", names)

bare <- function(name) gsub("^`|`$", "", name)

# Without an intercept the first factor has all levels, as in model.matrix.
every_level <- function(table, codings, intercept) {
    if (intercept || !length(table)) return(table)
    factors <- names(Filter(function(x) x$kind == "factor", codings))
    for (j in seq_len(ncol(table))) {
        first <- which(table[, j] > 0 & bare(rownames(table)) %in% factors)
        if (length(first)) {
            table[first[1], j] <- 2L
            return(table)
        }
    }
    table
}

# The terms of a right side, with coded columns in place of names.
format_terms <- function(right, codings, available) {
    all <- as.data.frame(stats::setNames(rep(list(numeric()), length(available)), available), optional = TRUE)
    terms <- stats::terms(stats::as.formula(call("~", right)), data = all, keep.order = FALSE)
    table <- every_level(attr(terms, "factors"), codings, attr(terms, "intercept"))
    spelled <- vapply(seq_along(attr(terms, "term.labels")), function(j) {
        own <- rownames(table)[table[, j] > 0]
        pieces <- vapply(own, function(v) {
            coding <- codings[[bare(v)]]
            if (is.null(coding)) return(v)
            sprintf("(%s)", paste(quoted(if (table[v, j] == 2) coding$all else coding$names), collapse = " + "))
        }, "")
        paste(pieces, collapse = ":")
    }, "")
    offsets <- as.character(as.list(attr(terms, "variables"))[-1])[attr(terms, "offset")]
    paste(c(attr(terms, "intercept"), spelled, offsets), collapse = " + ")
}

format_bar <- function(bar, codings, available) {
    sprintf("(%s %s %s)", format_terms(bar[[2]], codings, available), as.character(bar[[1]]), text_of_call(bar[[3]]))
}

# The formula for the library, as text.
format_formula <- function(formula, codings, available) {
    if (!length(codings)) return(text_of_call(formula))
    fixed <- fixed_terms(formula[[3]])
    bars <- vapply(bars_of(formula[[3]]), format_bar, "", codings, available)
    right <- format_terms(if (is.null(fixed)) 1 else fixed, codings, available)
    paste(text_of_call(formula[[2]]), "~", paste(c(right, bars), collapse = " + "))
}
