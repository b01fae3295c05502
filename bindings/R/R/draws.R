# Draws and what is read off them. Parameters have the names of the command line, but for the intercept, and but for parameters whose
# names a column has: these have a number behind theirs, sigma.1. What a parameter is does not depend on its name: parts_of.

# What each parameter is: "fixed", "sd", "cor", "effect" or "auxiliary" such as sigma.
parts_of <- function(fit) fit$part

# From the library's words for it. Of models that are functions, of which it knows no columns, all are fixed.
part_words <- function(words, family) {
    known <- c(intercept = "fixed", coefficient = "fixed", sd = "sd", cor = "cor", effect = "effect")
    part <- unname(known[words])
    part[is.na(part)] <- if (any(!is.na(part)) || family == "cumulative") "auxiliary" else "fixed"
    part
}

final_names <- function(names, words) {
    own <- words == "intercept" | all(words == "")
    names[own] <- sub("^intercept$", "(Intercept)", names[own])
    make.unique(names)
}

# Draws of an auxiliary parameter by its name, whatever the columns are called; NULL: the model has none.
auxiliary_draws <- function(fit, name) {
    own <- which(parts_of(fit) == "auxiliary" & fit$called == name)
    if (length(own)) as.vector(fit$draws[, , own[1]])
}

as.array.sbps <- function(x, ...) {
    out <- x$draws
    dimnames(out) <- list(iteration = NULL, chain = NULL, variable = dimnames(out)[[3]])
    out
}

# All chains one behind another.
as.matrix.sbps <- function(x, pars = NULL, regex_pars = NULL, ...) {
    draws <- x$draws
    out <- matrix(draws, ncol = dim(draws)[3], dimnames = list(NULL, dimnames(draws)[[3]]))
    out[, chosen(colnames(out), pars, regex_pars), drop = FALSE]
}

as.data.frame.sbps <- function(x, row.names = NULL, optional = FALSE, pars = NULL, regex_pars = NULL, ...) {
    as.data.frame(as.matrix(x, pars, regex_pars), optional = TRUE)
}

fixed_draws <- function(fit) as.matrix(fit)[, parts_of(fit) == "fixed", drop = FALSE]

fixef.sbps <- function(object, ...) apply(fixed_draws(object), 2, median)

coef.sbps <- function(object, ...) {
    if (!has_groups(object$formula)) return(fixef.sbps(object))
    fixed <- fixef.sbps(object)
    lapply(ranef.sbps(object), function(effects) coef_of(effects, fixed))
}

# Of every level: fixed effects, and its own added where it has them.
coef_of <- function(effects, fixed) {
    names <- union(names(fixed), names(effects))
    out <- lapply(names, function(name) {
        base <- if (name %in% names(fixed)) fixed[[name]] else 0
        rep(base, nrow(effects)) + if (name %in% names(effects)) effects[[name]] else 0
    })
    structure(out, names = names, row.names = rownames(effects), class = "data.frame")
}

vcov.sbps <- function(object, ...) cov(fixed_draws(object))

posterior_interval.sbps <- function(object, prob = 0.9, type = "central", pars = NULL, regex_pars = NULL, ...) {
    no_more(...)
    if (!identical(type, "central")) raise("SBPS_BAD_ARG", "type: only central intervals are there")
    interval_of(as.matrix(object, pars, regex_pars), prob)
}

interval_of <- function(draws, prob) {
    if (!is.numeric(prob) || length(prob) != 1 || !(prob > 0 && prob < 1)) raise("SBPS_BAD_ARG", "prob: expected a number between 0 and 1")
    t(apply(draws, 2, quantile, probs = c((1 - prob) / 2, (1 + prob) / 2)))
}

formula.sbps <- function(x, ...) x$formula

family.sbps <- function(object, ...) {
    if (is.function(object$family) && !inherits(object$family, "sbps_model")) object$family() else object$family
}

nobs.sbps <- function(object, ...) {
    if (is.character(object$data)) nrow(row_summaries(object, NULL, "linear", "error")) else nrow(object$data)
}

# ---- posterior ----

as_draws.sbps <- function(x, ...) as_draws_array.sbps(x)
as_draws_array.sbps <- function(x, ...) posterior::as_draws_array(as.array(x))
as_draws_df.sbps <- function(x, ...) posterior::as_draws_df(as_draws_array.sbps(x))
as_draws_list.sbps <- function(x, ...) posterior::as_draws_list(as_draws_array.sbps(x))
as_draws_matrix.sbps <- function(x, ...) posterior::as_draws_matrix(as_draws_array.sbps(x))
as_draws_rvars.sbps <- function(x, ...) posterior::as_draws_rvars(as_draws_array.sbps(x))
