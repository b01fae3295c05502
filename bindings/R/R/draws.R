# Draws and their summaries. Parameters have the names of the command line, except for parameters with the name of a column, which get
# a number: sigma.1. The kind of a parameter does not depend on its name: parts_of.

# The kind of each parameter: "fixed", "sd", "cor", "effect" or "auxiliary" such as sigma.
parts_of <- function(fit) fit$part

# Ordered outcomes: coefficients come first, then the thresholds, such as low|middle.
ordinal_parts <- function(names) {
    last_coefficient <- max(0, which(!grepl("|", names, fixed = TRUE)))
    rep(c("fixed", "auxiliary"), c(last_coefficient, length(names) - last_coefficient))
}

# From the library's kinds. Parameters of models that are functions are all fixed.
parameter_parts <- function(kinds, family, names) {
    if (family == "cumulative" && !any(kinds %in% c("coefficient", "sd"))) return(ordinal_parts(names))
    known <- c(intercept = "fixed", coefficient = "fixed", sd = "sd", cor = "cor", effect = "effect")
    part <- unname(known[kinds])
    part[is.na(part)] <- if (any(!is.na(part))) "auxiliary" else "fixed"
    part
}

# Draws of an auxiliary parameter by its name; NULL: the model has none.
auxiliary_draws <- function(fit, name) {
    own <- which(parts_of(fit) == "auxiliary" & fit$called == name)
    if (length(own)) as.vector(fit$draws[, , own[1]])
}

as.array.sbps <- function(x, ...) {
    out <- x$draws
    dimnames(out) <- list(iteration = NULL, chain = NULL, variable = dimnames(out)[[3]])
    out
}

# All chains, one after another.
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

# Coefficients of every level: fixed effects plus effects of the level.
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
    no_further_arguments(...)
    if (!identical(type, "central")) raise("SBPS_BAD_ARG", "type: only central intervals are supported")
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
