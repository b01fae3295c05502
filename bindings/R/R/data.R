# What is handed over: columns that the formula names, as R has them.

# Names that a formula and options want of the data; all of them where it says `.` or names one that is not there, so that
# the library can say which is meant.
wanted <- function(formula, there, also) {
    names <- unique(c(all.vars(formula), also))
    if ("." %in% names) names <- union(setdiff(names, "."), there)
    names
}

# Variables that are not in the data are looked for where the formula was written, as everywhere in R.
gather <- function(formula, data, also) {
    names <- wanted(formula, names(data), also)
    own <- intersect(names, names(data))
    out <- as.list(data)[own]
    for (name in setdiff(names, own)) {
        value <- get0(name, environment(formula), mode = "any")
        fits <- is.atomic(value) && !is.null(value) && (!length(out) || length(value) == length(out[[1]]))
        if (fits && length(value) > 1) out[[name]] <- value
    }
    if (length(setdiff(names, names(out)))) out <- c(out, as.list(data)[setdiff(names(data), names(out))])
    out
}

check_contrasts <- function(x, name) {
    usual <- identical(unname(getOption("contrasts")[1]), "contr.treatment")
    if (is.ordered(x)) {
        raise("SBPS_BAD_DATA", sprintf("column '%s' is an ordered factor, whose polynomial contrasts are not there: factor(%s, ordered = FALSE) compares levels with the first", name, name))
    }
    if (!usual || !is.null(attr(x, "contrasts"))) {
        raise("SBPS_BAD_DATA", sprintf("column '%s' has contrasts of its own: contr.treatment is the only one that is there", name))
    }
}

# Columns behind the bars of a formula, whose levels need no order.
grouping <- function(formula) {
    if (!is.call(formula)) return(character())
    if (as.character(formula[[1]])[1] %in% c("|", "||")) return(all.vars(formula[[3]]))
    unique(unlist(lapply(as.list(formula)[-1], grouping)))
}

# A vector as the library takes it: numbers, a factor whose levels keep their order, or the texts of a grouping column, which
# are laid out as those of a file are.
column <- function(x, name, explained, groups) {
    if (is.logical(x)) return(factor(x, levels = c(FALSE, TRUE)))
    if (is.factor(x)) {
        if (!explained && !groups) check_contrasts(x, name)
        return(droplevels(x))
    }
    if (is.character(x)) return(if (groups) as.vector(x) else factor(x))
    if (!is.numeric(x) && !inherits(x, c("Date", "POSIXct", "difftime")) || inherits(x, "integer64") || !is.null(dim(x))) {
        raise("SBPS_BAD_DATA", sprintf("column '%s' is of class '%s', want numbers, factors, texts or logicals", name, class(x)[1]))
    }
    if (is.integer(x) && !anyNA(x)) as.vector(x) else as.double(x)
}

# A data frame of columns, rows with NA treated by `na.action`.
frame_of <- function(formula, data, also, na.action) {
    columns <- gather(formula, data, also)
    if (length(unique(lengths(columns))) > 1) raise("SBPS_BAD_DATA", "variables are of different lengths")
    explained <- all.vars(formula[[2]])
    groups <- grouping(formula[[3]])
    columns <- Map(function(x, name) column(x, name, name %in% explained, name %in% groups), columns, names(columns))
    rows <- if (length(columns)) length(columns[[1]]) else 0L
    frame <- structure(columns, class = "data.frame", row.names = .set_row_names(rows))
    if (!any(vapply(columns, anyNA, NA))) return(frame)
    frame <- match.fun(na.action)(frame)
    frame[] <- lapply(frame, function(x) if (is.factor(x)) droplevels(x) else x)
    frame
}

# ---- text, for rows that are read as those of files ----

cells <- function(x) {
    if (is.factor(x) || is.logical(x)) x <- as.character(x)
    if (is.character(x)) return(ifelse(is.na(x), "", paste0('"', gsub('"', '""', enc2utf8(x), fixed = TRUE), '"')))
    ifelse(is.na(x), "", sprintf("%.17g", as.double(x)))
}

write_rows <- function(data, path) {
    head <- paste0('"', gsub('"', '""', enc2utf8(names(data)), fixed = TRUE), '"', collapse = ",")
    lines <- do.call(paste, c(lapply(unname(as.list(data)), cells), sep = ","))
    writeLines(c(head, lines), path, useBytes = TRUE)
}
