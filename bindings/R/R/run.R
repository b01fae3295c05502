# A fit holds the bytes of its run's file; whoever asks the library writes them out first.
with_run <- function(fit, ask) {
    path <- tempfile("sbps", fileext = ".nc")
    on.exit(unlink(path))
    writeBin(fit$run, path)
    value <- ask(path)
    if (inherits(value, "sbps_failure")) value[] <- sub(path, "the fit", value, fixed = TRUE)
    value
}

# The same with the rows of a data frame, a matrix or a file; NULL: the fit's own.
with_rows <- function(fit, data, ask) {
    data <- if (is.null(data)) fit$data else if (is_file(data)) data else new_rows(fit, data)
    if (is.list(data) && !inherits(data, "sbps_entries")) data <- lapply(data, row_cells)
    with_run(fit, function(run) ask(run, data))
}

text_of <- function(fit, what, seed = 1, rows = FALSE, data = NULL) {
    how <- c(as.double(seed), 0)
    if (!rows) return(answer(with_run(fit, function(run) .Call(r_text, run, what, NULL, how))))
    answer(with_rows(fit, data, function(run, path) .Call(r_text, run, what, path, how)))
}

as_text <- function(text) structure(text, class = "sbps_text")

print.sbps_text <- function(x, ...) {
    cat(x, if (!endsWith(x, "\n")) "\n", sep = "")
    invisible(x)
}

print.sbps <- function(x, ...) {
    cat(text_of(x, "summary"))
    invisible(x)
}

diagnose.sbps <- function(object, ...) as_text(text_of(object, "diagnose"))

sbps_report <- function(fit, file, data = NULL) {
    page <- text_of(fit, "page", rows = TRUE, data = data)
    writeLines(enc2utf8(page), file, useBytes = TRUE)
    invisible(file)
}
