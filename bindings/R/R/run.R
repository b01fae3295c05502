# Calls `use` with the path of a run file: a fit contains the bytes of the file. The file is in memory where the system has such files.
with_run_file <- function(fit, use) {
    file <- .Call(r_memory_open, fit$run)
    if (file >= 0) {
        path <- sprintf("/proc/self/fd/%d", file)
        on.exit(.Call(r_memory_close, file))
    } else {
        path <- tempfile("sbps", fileext = ".nc")
        on.exit(unlink(path))
        writeBin(fit$run, path)
    }
    value <- use(path)
    if (inherits(value, "sbps_failure")) value[] <- sub(path, "the fit", value, fixed = TRUE)
    value
}

# The same with rows: of a data frame, a matrix or a file; NULL: those of the fit.
with_rows <- function(fit, data, use) {
    data <- if (is.null(data)) fit$data else if (is_file(data)) data else new_rows(fit, data)
    if (is.list(data) && !inherits(data, "sbps_entries")) data <- lapply(data, as_row_column)
    with_run_file(fit, function(run) use(run, data))
}

text_of <- function(fit, what, seed = 1, rows = FALSE, data = NULL, group = "") {
    what <- c(what, group)
    how <- c(as.double(seed), 0)
    if (!rows) return(result_or_error(with_run_file(fit, function(run) .Call(r_text, run, what, NULL, how))))
    result_or_error(with_rows(fit, data, function(run, path) .Call(r_text, run, what, path, how)))
}

as_text <- function(text) structure(text, class = "sbps_text")

print.sbps_text <- function(x, ...) {
    cat(x, if (!endsWith(x, "\n")) "\n", sep = "")
    invisible(x)
}

# Rows that na.action left out, as lm prints them.
print_left_out <- function(left) if (length(left)) cat("(", stats::naprint(left), ")\n", sep = "")

# The text of `sbps summary` with R's formula and names: those of columns that were computed here have no backticks.
summary_text <- function(fit, ranef = FALSE, verbose = FALSE) {
    text <- text_of(fit, paste0("summary", if (ranef) "-ranef", if (verbose) "-verbose"))
    text <- sub("`sbps summary --ranef` shows", "ranef(fit) has", text, fixed = TRUE)
    names <- recipe_names(fit$recipe)
    if (!length(names)) return(text)
    formula <- strwrap(text_of_call(fit$formula), 66, exdent = 14, prefix = "", initial = "formula       ")
    text <- sub("(?s)^formula .*?\n(?=[a-z])", paste0(paste(formula, collapse = "\n"), "\n"), text, perl = TRUE)
    lines <- strsplit(text, "\n", fixed = TRUE)[[1]]
    bare <- lines
    for (name in names) bare <- gsub(sprintf("`%s`", name), name, bare, fixed = TRUE)
    shorter <- which(nchar(bare) < nchar(lines)) # columns stay aligned
    bare[shorter] <- mapply(function(line, gap) sub("  ", strrep(" ", gap + 2), line, fixed = TRUE), bare[shorter], (nchar(lines) - nchar(bare))[shorter])
    paste0(paste(bare, collapse = "\n"), "\n")
}

print.sbps <- function(x, ranef = FALSE, verbose = FALSE, ...) {
    cat(summary_text(x, ranef, verbose))
    print_left_out(attr(x$data, "na.action"))
    invisible(x)
}

diagnose.sbps <- function(object, ...) as_text(text_of(object, "diagnose"))

sbps_report <- function(fit, file, data = NULL) {
    page <- text_of(fit, "page", rows = TRUE, data = data)
    writeLines(enc2utf8(page), file, useBytes = TRUE)
    invisible(file)
}
