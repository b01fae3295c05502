# Rows for the library: the columns that the formula names.

# A data frame of columns of the same length, whatever their names.
frame_from <- function(columns, rows = if (length(columns)) NROW(columns[[1]]) else 0L) {
    structure(columns, class = "data.frame", row.names = .set_row_names(rows))
}

# Names of columns that a formula and options need; all columns if the formula contains `.`.
required_names <- function(formula, available, also) {
    names <- unique(c(all.vars(formula), also))
    if ("." %in% names) names <- union(setdiff(names, "."), available)
    names
}

# Variables that are not in the data are looked up in the environment of the formula, as in lm. If one is not found, all columns are
# passed on, so that the library can suggest a name.
collect_columns <- function(formula, data, rows, also) {
    names <- required_names(formula, names(data), also)
    out <- data[intersect(names, names(data))]
    for (name in setdiff(names, names(data))) {
        value <- get0(name, environment(formula), mode = "any")
        if (!is.atomic(value) || NROW(value) < 2) next
        if (is.na(rows)) rows <- NROW(value)
        if (NROW(value) != rows) differ(name, NROW(value), rows)
        out[[name]] <- value
    }
    if (length(setdiff(names, names(out)))) out <- c(out, data[setdiff(names(data), names(out))])
    out
}

# Grouping columns of a formula, whose levels need no order.
grouping <- function(formula) unique(unlist(lapply(bars_of(formula), function(bar) all.vars(bar[[3]]))))

# A vector in the form of the library: numbers, a factor whose levels keep their order, or the strings of a grouping column, which
# become levels as those of a file.
column <- function(x, name, groups) {
    if (is.logical(x)) return(factor(x, levels = c(FALSE, TRUE)))
    if (is.factor(x)) return(used_levels(x))
    if (is.character(x)) return(if (groups) as.vector(x) else factor(x))
    if (!is.numeric(x) && !inherits(x, c("Date", "POSIXct", "difftime")) || inherits(x, "integer64") || !is.null(dim(x))) {
        raise("SBPS_BAD_DATA", sprintf("column '%s' is of class '%s', expected numbers, factors, strings or logicals", name, class(x)[1]))
    }
    if (is.integer(x) && !anyNA(x)) as.vector(x) else as.double(x)
}

# True for names of files, not for a character matrix.
is_file <- function(data) is.character(data) && is.null(dim(data))

# Columns of a sparse matrix of the package Matrix, as a plain one.
dense_of <- function(data, names) {
    need("Matrix", "data")
    if (is.null(colnames(data))) raise("SBPS_BAD_ARG", "data: expected a matrix with names of its columns")
    out <- as.matrix(data[, intersect(colnames(data), names), drop = FALSE])
    storage.mode(out) <- "double"
    out
}

# ---- weights, offset and subset, as in glm ----

# The value of an expression of columns, or the name of a column; for files only names. NULL: no argument.
row_values <- function(expression, name, data, env) {
    if (is.null(expression)) return(NULL)
    if (is_file(data)) {
        if (is.name(expression) && !is.character(get0(as.character(expression), env))) return(as.character(expression))
        data <- list()
    }
    if (inherits(data, "sparseMatrix")) data <- dense_of(data, all.vars(expression))
    value <- eval(expression, if (is.matrix(data)) as.data.frame(data) else as.list(data), env)
    if (is.null(value) || is.character(value) && length(value) == 1) return(value)
    if (!is.numeric(value) && !is.logical(value)) raise("SBPS_BAD_ARG", sprintf("%s: expected numbers, or the name of a column", name))
    value
}

of_rows <- function(value, rows, name) {
    if (length(value) != rows) differ(name, length(value), rows)
    value
}

which_rows <- function(subset, rows) {
    if (is.logical(subset) && length(subset) != rows) raise("SBPS_BAD_DATA", sprintf("subset: %d values for %d rows", length(subset), rows))
    which <- seq_len(rows)[subset]
    which[!is.na(which)]
}

select_rows <- function(columns, which) lapply(columns, function(x) if (length(dim(x)) == 2) x[which, , drop = FALSE] else x[which])

# ---- data frames and computed columns ----

# Names that are terms of a formula by themselves, without grouping columns.
bare_names <- function(formula, available) {
    found <- character()
    note <- function(x) {
        if (is.name(x)) found <<- c(found, as.character(x))
        x
    }
    for (bar in bars_of(formula[[3]])) map_pieces(bar[[2]], note)
    fixed <- fixed_terms(formula[[3]])
    if (!is.null(fixed)) map_pieces(fixed, note)
    if ("." %in% found) found <- c(found, setdiff(available, all.vars(formula[[2]])))
    unique(setdiff(found, "."))
}

set_contrasts <- function(columns, contrasts) {
    for (name in intersect(names(contrasts), names(columns))) {
        x <- columns[[name]]
        x <- droplevels(if (is.factor(x)) x else factor(x))
        stats::contrasts(x) <- contrasts[[name]]
        columns[[name]] <- x
    }
    columns
}

# Replaces columns that the library does not support. If there is one, all factors are coded here, so that R determines which terms
# have contrasts and which have all levels.
code_columns <- function(columns, formula) {
    own <- intersect(bare_names(formula, names(columns)), names(columns))
    codings <- Map(coding_of, columns[own], own)
    codings <- if (all(vapply(codings, function(x) is.null(x) || x$usual, NA))) list() else Filter(Negate(is.null), codings)
    for (name in names(codings)) columns <- add_coded(columns, codings[[name]], name)
    list(columns = columns[!vapply(columns, is.matrix, NA)], codings = codings)
}

treat_missing <- function(frame, na.action) {
    if (!any(vapply(frame, anyNA, NA))) return(frame)
    frame <- match.fun(na.action)(frame)
    left <- attr(frame, "na.action")
    frame[] <- lapply(frame, function(x) if (is.factor(x)) used_levels(x) else x)
    attr(frame, "na.action") <- left
    frame
}

# Names in a formula's calls that are neither columns nor as long as the rows, such as the number of knots. R computes such calls.
outside_names <- function(formula, data, rows) {
    names <- setdiff(all.vars(formula), c(names(data), ".", "T", "F"))
    Filter(function(name) {
        value <- get0(name, environment(formula), mode = "any")
        is.atomic(value) && !is.null(value) && (NROW(value) == 1 || !is.na(rows) && NROW(value) != rows)
    }, names)
}

# The variables of a formula, with the values of calls that R computes, as columns of the same rows.
variables_of <- function(formula, values, data, rows, arguments) {
    columns <- collect_columns(formula, c(data[setdiff(names(data), names(values))], values), rows, arguments$also)
    if (is.na(rows)) rows <- count_rows(columns)
    if (!is.na(rows) && rows == 0) raise("SBPS_BAD_DATA", "data: the table has no rows")
    check_lengths(columns, rows)
    for (name in names(arguments$own)) columns[[name]] <- of_rows(arguments$own[[name]], rows, arguments$part[[name]])
    if (!is.null(arguments$subset)) columns <- select_rows(columns, which_rows(arguments$subset, NROW(columns[[1]])))
    set_contrasts(columns, arguments$contrasts)
}

# Rows and formula for the library, and the recipe for new rows.
frame_of <- function(formula, data, arguments) {
    rows <- count_rows(data)
    data <- as.list(data)
    env <- with_splines(environment(formula))
    outside <- outside_names(formula, data, rows)
    for (known in list(known_functions, setdiff(known_functions, c("factor", "cut", "relevel")))) {
        calls <- computed_calls(formula, known, outside)
        named <- name_calls(formula, calls)
        values <- lapply(calls, eval, data, env)
        coding <- code_columns(variables_of(named, values, data, rows, arguments), named)
        if (!length(coding$codings)) break
    }
    groups <- grouping(named[[3]])
    columns <- Map(function(x, name) column(x, name, name %in% groups), coding$columns, names(coding$columns))
    made <- unlist(lapply(coding$codings, function(x) c(x$names, x$all)))
    available <- union(setdiff(names(columns), c(all.vars(named[[2]]), names(arguments$own), arguments$also, made)), names(coding$codings))
    recipe <- c(recipe_of(formula, calls, values, data, rows, env), list(codings = coding$codings, there = available))
    kept <- treat_missing(frame_from(columns), arguments$na.action)
    recipe$raw <- raw_columns(data, recipe$needs, arguments$subset, attr(kept, "na.action"))
    list(rows = kept, text = format_formula(named, coding$codings, available), recipe = recipe)
}

# The columns from which R computed others, for the rows of the fit: functions such as emmeans need them.
raw_columns <- function(data, needs, subset, left) {
    raw <- data[unique(as.character(unlist(needs)))]
    if (length(raw) && !is.null(subset)) raw <- select_rows(raw, which_rows(subset, NROW(raw[[1]])))
    if (length(raw) && length(left)) raw <- select_rows(raw, -as.integer(left))
    raw
}

# weights and offset of new rows: an offset is needed, weights are not.
new_row_arguments <- function(fit, data, rows, env) {
    values <- list()
    for (name in names(fit$said)) {
        needed <- identical(unname(fit$options["offset"]), name)
        value <- tryCatch(eval(fit$said[[name]], data, env), error = identity)
        if (needed && inherits(value, "error")) raise("SBPS_BAD_DATA", paste("newdata: offset:", conditionMessage(value)))
        if (needed && length(value) != rows) differ("offset", length(value), rows)
        if (is.numeric(value) && length(value) == rows) values[[name]] <- value
    }
    values
}

# New rows, by the recipe of a fit.
new_rows <- function(fit, data) {
    if (inherits(data, "sparseMatrix")) {
        also <- fit$options[names(fit$options) %in% c("trials", "offset", "weights")]
        if (is_plain(fit)) return(entries(data, required_names(fit$formula, colnames(data), also), list()))
        data <- dense_of(data, colnames(data))
    }
    if (is.matrix(data)) data <- as.data.frame(data)
    if (!is.list(data)) raise("SBPS_BAD_ARG", "newdata: expected a data frame, a matrix or the name of a file")
    rows <- count_rows(data)
    if (is.na(rows)) raise("SBPS_BAD_DATA", "newdata: there are no columns")
    env <- with_splines(environment(fit$formula))
    data <- as.list(data)
    check_lengths(data, rows)
    computed <- compute_new(fit$recipe, data, rows, env)
    columns <- data
    columns[names(computed)] <- computed
    for (name in intersect(names(fit$recipe$codings), names(columns))) {
        new <- coded(fit$recipe$codings[[name]], columns[[name]], name)
        columns[names(new)] <- new
    }
    arguments <- new_row_arguments(fit, data, rows, env)
    columns[names(arguments)] <- arguments
    columns <- Filter(function(x) is.atomic(x) && is.null(dim(x)), columns)
    frame_from(if (length(columns)) columns else list("(rows)" = numeric(rows)), rows)
}

# A column of rows that are read one by one. The run file has its type.
as_row_column <- function(x) {
    if (is.logical(x)) return(factor(x, levels = c(FALSE, TRUE)))
    if (is.factor(x) || is.character(x) || is.integer(x) && !anyNA(x)) x else as.double(x)
}
