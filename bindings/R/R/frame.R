# The model frame, terms and design matrix of a fit, as those of lm and lmer.

# Right side with the variables of groups as terms: x + (1 + z | g) becomes x + (1 + z) + g.
with_group_variables <- function(formula) {
    bars <- bars_of(formula[[3]])
    out <- fixed_part(formula)
    for (bar in bars) for (piece in c(list(call("(", bar[[2]])), lapply(all.vars(bar[[3]]), as.name))) out[[3]] <- call("+", out[[3]], piece)
    out
}

# The response as R evaluates it: y of y | trials(n).
plain_response <- function(formula) {
    if (is_call_of(formula[[2]], "|")) formula[[2]] <- formula[[2]][[2]]
    formula
}

# Matrices that were passed to the library by columns, put together again.
with_matrices <- function(own, codings) {
    for (name in names(Filter(function(x) x$kind == "matrix", codings))) {
        columns <- codings[[name]]$names
        if (!all(columns %in% names(own))) next
        labels <- if (length(columns) == 1) NULL else substring(columns, nchar(name) + 1)
        own[[name]] <- matrix(unlist(own[columns], use.names = FALSE), nrow(own), dimnames = list(NULL, labels))
    }
    own
}

# Constants of R's calls, such as knots, as in the terms of lm: `predvars`.
with_constants <- function(terms, named, recipe) {
    own <- as.list(attr(terms, "variables"))[-1]
    constants <- as.list(attr(named, "predvars"))[-1]
    for (k in seq_along(own)) {
        later <- recipe$calls[[text_of_call(own[[k]])]]
        if (!is.null(later)) constants[[k]] <- later
    }
    attr(terms, "predvars") <- as.call(c(list(quote(list)), constants))
    attr(terms, "dataClasses") <- stats::setNames(attr(named, "dataClasses")[seq_along(own)], vapply(own, text_of_call, ""))
    terms
}

# `groups`: whether the variables of groups are columns.
frame_of_fit <- function(fit, groups) {
    own <- with_matrices(rows_of(fit, NULL), fit$recipe$codings)
    formula <- plain_response(if (groups) with_group_variables(fit$formula) else fixed_part(fit$formula))
    environment(formula) <- with_splines(environment(fit$formula))
    there <- if (is.null(fit$recipe$there)) own else own[intersect(names(own), c(fit$recipe$there, all.vars(formula[[2]])))]
    terms <- stats::terms(formula, data = there)
    calls <- fit$recipe$calls
    named <- if (length(calls)) stats::terms(name_calls(formula, calls), data = there) else terms
    frame <- stats::model.frame(named, own, na.action = stats::na.pass)
    if (length(calls)) {
        names(frame)[seq_along(attr(terms, "variables")[-1])] <- vapply(as.list(attr(terms, "variables"))[-1], text_of_call, "")
        attr(frame, "terms") <- with_constants(terms, attr(frame, "terms"), fit$recipe)
    }
    for (name in intersect(c("(weights)", "(offset)"), names(own))) frame[[name]] <- own[[name]]
    frame
}

model.frame.sbps <- function(formula, fixed.only = FALSE, ...) {
    no_further_arguments(...)
    frame_of_fit(formula, !isTRUE(fixed.only))
}

terms.sbps <- function(x, fixed.only = TRUE, ...) attr(frame_of_fit(x, !isTRUE(fixed.only)), "terms")

# Contrasts of the factors in a model frame as they were at the time of the fit.
contrasts_of <- function(fit, frame) {
    factors <- names(Filter(function(x) is.factor(x) || is.character(x) || is.logical(x), frame))
    terms <- attr(frame, "terms")
    table <- attr(terms, "factors")
    used <- if (length(table)) rownames(table)[rowSums(table) > 0]
    lapply(stats::setNames(nm = intersect(factors, bare(as.character(used)))), function(name) {
        coding <- fit$recipe$codings[[name]]
        if (is.null(coding)) return("contr.treatment")
        structure(coding$matrix, dimnames = list(coding$levels, substring(coding$names, nchar(name) + 1)))
    })
}

# The design matrix of fixed effects for a frame with these terms. Models of ordered outcomes have thresholds in place of an intercept.
design_for <- function(fit, terms, frame) {
    contrasts <- contrasts_of(fit, frame)
    x <- stats::model.matrix(terms, frame, contrasts.arg = if (length(contrasts)) contrasts)
    if (identical(fit$word, "cumulative")) x <- x[, colnames(x) != "(Intercept)", drop = FALSE]
    x
}

model.matrix.sbps <- function(object, ...) {
    frame <- frame_of_fit(object, FALSE)
    response <- attr(attr(frame, "terms"), "response")
    terms <- attr(frame, "terms")
    design_for(object, if (response) stats::delete.response(terms) else terms, frame)
}

# ---- methods of lm that have no equivalent, or another name ----

logLik.sbps <- function(object, ...) {
    raise("SBPS_BAD_ARG", "logLik: a posterior has no maximised log-likelihood: log_lik(fit) has that of each draw and row, loo(fit) compares models")
}

anova.sbps <- function(object, ...) {
    raise("SBPS_BAD_ARG", "anova: compare fits by loo_compare(fit, other), and coefficients by hypothesis(fit, ...) or emmeans::joint_tests(fit)")
}

deviance.sbps <- function(object, ...) raise("SBPS_BAD_ARG", "deviance: a posterior has none: use loo(fit)")

# Posterior intervals of fixed effects, or of the named parameters.
confint.sbps <- function(object, parm, level = 0.95, ...) {
    no_further_arguments(...)
    if (missing(parm)) parm <- colnames(fixed_draws(object))
    if (is.numeric(parm)) parm <- colnames(fixed_draws(object))[parm]
    limits <- interval_of(as.matrix(object, chosen(rownames(object$figures), parm, NULL)), level)
    tails <- c((1 - level) / 2, (1 + level) / 2)
    colnames(limits) <- paste(format(100 * tails, trim = TRUE, digits = 3), "%")
    limits
}
