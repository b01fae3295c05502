# A fit holds the bytes of its run's file; whoever asks the library writes them out first.
with_run <- function(fit, ask) {
    path <- tempfile("sbps", fileext = ".nc")
    on.exit(unlink(path))
    writeBin(fit$run, path)
    ask(path)
}

# The same with the rows of a data frame, a matrix or a file; NULL: the fit's own.
with_rows <- function(fit, data, ask) {
    if (is.null(data)) data <- fit$data
    if (is.character(data)) return(with_run(fit, function(run) ask(run, data)))
    path <- tempfile("sbps", fileext = ".csv")
    on.exit(unlink(path))
    write_rows(as.data.frame(data), path)
    value <- with_run(fit, function(run) ask(run, path))
    if (inherits(value, "sbps_failure")) value[] <- sub(path, "data", value, fixed = TRUE)
    value
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

summary.sbps <- function(object, ...) {
    structure(object$figures, class = c("summary.sbps", "matrix"), description = object$description, text = text_of(object, "summary"))
}

print.summary.sbps <- function(x, ...) {
    cat(attr(x, "description"), "\n", attr(x, "text"), sep = "")
    invisible(x)
}

diagnose.sbps <- function(object, ...) as_text(text_of(object, "diagnose"))

sbps_report <- function(fit, file, data = NULL) {
    page <- text_of(fit, "page", rows = TRUE, data = data)
    writeLines(enc2utf8(page), file, useBytes = TRUE)
    invisible(file)
}

# ---- leave-one-out ----

sbps_loo <- function(fit, seed = 1) as_text(text_of(fit, "loo", seed, rows = TRUE))

loo.sbps <- function(x, ...) {
    values <- log_lik(x)
    chain <- rep(seq_len(dim(x$draws)[2]), each = dim(x$draws)[1])
    loo::loo(values, r_eff = loo::relative_eff(exp(values), chain_id = chain), ...)
}
