# Leave-one-out and comparisons: the library's report, and objects of the package loo.
# group: a grouping factor, whose levels are left out one by one instead of rows.
sbps_loo <- function(fit, seed = 1, group = NULL) {
    if (!is.null(group) && !(is.character(group) && length(group) == 1 && !is.na(group)))
        raise("SBPS_BAD_ARG", "group: expected the name of a grouping factor")
    as_text(text_of(fit, "loo", whole(seed, "seed"), rows = TRUE, group = if (is.null(group)) "" else group))
}

loo.sbps <- function(x, ...) {
    need("loo", "loo")
    values <- log_lik.sbps(x)
    chain <- rep(seq_len(dim(x$draws)[2]), each = dim(x$draws)[1])
    name <- text_of_call(substitute(x))
    structure(loo::loo(values, r_eff = loo::relative_eff(exp(values), chain_id = chain), ...), model_name = name)
}

waic.sbps <- function(x, ...) {
    need("loo", "waic")
    structure(loo::waic(log_lik.sbps(x), ...), model_name = text_of_call(substitute(x)))
}

# Compares fits, by their names.
loo_compare.sbps <- function(x, ..., criterion = c("loo", "waic")) {
    need("loo", "loo_compare")
    measure <- switch(match.arg(criterion), loo = loo.sbps, waic = waic.sbps)
    fits <- list(x, ...)
    if (!all(vapply(fits, inherits, NA, "sbps"))) raise("SBPS_BAD_ARG", "loo_compare: expected fits")
    if (length(unique(vapply(fits, nobs, 1))) > 1) raise("SBPS_BAD_DATA", "loo_compare: the fits have different rows")
    names <- vapply(as.list(substitute(list(x, ...)))[-1], text_of_call, "")
    loo::loo_compare(stats::setNames(lapply(fits, measure), make.unique(names)))
}
