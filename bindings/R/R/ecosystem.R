# Methods for generics of other packages, which are registered when those are loaded (NAMESPACE).

# Families by their library names, as R's or rstanarm's. Others are lists with the name and the link of the predictor.
family_of <- function(fit) {
    own <- list(gaussian = stats::gaussian(), bernoulli = stats::binomial(), binomial = stats::binomial(), "binomial(probit)" = stats::binomial("probit"),
                poisson = stats::poisson(), Gamma = stats::Gamma("log"))[[fit$word]]
    if (!is.null(own)) return(own)
    links <- c(student = "identity", negbinomial = "log", Beta = "logit", zero_inflated_poisson = "log", cumulative = "logit", categorical = "logit")
    named <- c(negbinomial = "neg_binomial_2")
    name <- if (fit$word %in% names(named)) named[[fit$word]] else fit$word
    link <- if (fit$word %in% names(links)) links[[fit$word]] else "identity"
    structure(c(list(family = name, link = link), unclass(stats::make.link(link))[c("linkfun", "linkinv")]), class = "family")
}

# ---- emmeans ----

# Columns that the formula names, for the fit's own rows: those of the library, and those from which R computed others.
original_columns <- function(fit, names) {
    own <- rows_of(fit, NULL)
    raw <- fit$recipe$raw
    columns <- lapply(stats::setNames(nm = names), function(name) if (name %in% names(own)) own[[name]] else raw[[name]])
    frame_from(columns[lengths(columns) > 0], nrow(own))
}

recover_data.sbps <- function(object, data = NULL, ...) {
    if (object$word %in% c("categorical", "function")) return(sprintf("sbps: family '%s' has not one linear predictor of its columns", object$word))
    terms <- stats::delete.response(terms.sbps(object))
    if (is.null(data)) data <- original_columns(object, all.vars(attr(terms, "variables")))
    emmeans::recover_data(object$call, terms, NULL, data = data, ...)
}

emm_basis.sbps <- function(object, trms, xlev, grid, ...) {
    frame <- stats::model.frame(trms, grid, na.action = stats::na.pass, xlev = xlev)
    x <- design_for(object, trms, frame)
    draws <- fixed_draws(object)
    if (!all(colnames(x) %in% colnames(draws))) raise("SBPS_BAD_ARG", "emmeans: the design matrix of R differs for this formula, which is not supported")
    draws <- draws[, colnames(x), drop = FALSE]
    attr(draws, "n.chains") <- dim(object$draws)[2]
    family <- family_of(object)
    misc <- if (object$word %in% c("cumulative", "zero_inflated_poisson")) list() else emmeans::.std.link.labels(family, list())
    list(X = x, bhat = colMeans(draws), nbasis = matrix(NA), V = cov(draws), dffun = function(k, dfargs) Inf, dfargs = list(), misc = misc, post.beta = draws)
}

# ---- insight ----

find_formula.sbps <- function(x, ...) {
    env <- environment(x$formula)
    random <- lapply(bars_of(x$formula[[3]]), function(bar) stats::as.formula(call("~", call("|", bar[[2]], bar[[3]])), env))
    if (length(random) == 1) random <- random[[1]]
    fixed <- fixed_part(plain_response(x$formula))
    out <- c(list(conditional = fixed), if (length(random)) list(random = random))
    structure(out, class = c("insight_formula", "list"))
}

model_info.sbps <- function(x, ...) {
    family <- family_of(x)
    stand_in <- structure(list(family = family, formula = x$formula), class = "sbps_family")
    out <- insight::model_info(stand_in, verbose = FALSE)
    out$is_bernoulli <- x$word == "bernoulli"
    out$is_linear <- x$word %in% c("gaussian", "student")
    out$is_zero_inflated <- out$is_zeroinf <- x$word == "zero_inflated_poisson"
    out$is_hurdle <- FALSE
    out$is_ordinal <- out$is_cumulative <- x$word == "cumulative"
    out$is_categorical <- out$is_multinomial <- x$word == "categorical"
    out$is_beta <- x$word == "Beta"
    out$is_negbin <- x$word == "negbinomial"
    out$is_trial <- x$word %in% c("binomial", "binomial(probit)")
    out$is_bayesian <- TRUE
    out$is_mixed <- has_groups(x$formula)
    out$n_obs <- nobs(x)
    if (out$is_mixed && any(parts_of(x) == "effect")) out$n_grouplevels <- ngrps.sbps(x)
    out
}
family.sbps_family <- function(object, ...) object$family
formula.sbps_family <- function(x, ...) x$formula

# Names of parameters by insight's effects and components.
parameter_groups <- function(fit) {
    part <- parts_of(fit)
    names <- rownames(fit$figures)
    sigma <- part == "auxiliary" & fit$called == "sigma"
    out <- list(conditional = names[part == "fixed"], random = names[part %in% c("sd", "cor", "effect")], sigma = names[sigma],
                auxiliary = names[part == "auxiliary" & !sigma])
    out[lengths(out) > 0]
}

find_parameters.sbps <- function(x, effects = c("all", "fixed", "random"), component = "all", flatten = FALSE, parameters = NULL, ...) {
    effects <- match.arg(effects)
    groups <- parameter_groups(x)
    wanted <- switch(effects, fixed = setdiff(names(groups), "random"), random = "random", names(groups))
    of_component <- switch(component[1], conditional = , location = c("conditional", "random"), sigma = "sigma", auxiliary = , distributional = c("sigma", "auxiliary"), names(groups))
    groups <- groups[intersect(intersect(names(groups), wanted), of_component)]
    if (!is.null(parameters)) groups <- lapply(groups, function(names) grep(paste(parameters, collapse = "|"), names, value = TRUE))
    groups <- groups[lengths(groups) > 0]
    if (isTRUE(flatten)) unlist(groups, use.names = FALSE) else groups
}

get_parameters.sbps <- function(x, effects = c("fixed", "random", "all"), component = "location", parameters = NULL, ...) {
    as.data.frame(as.matrix(x)[, find_parameters.sbps(x, match.arg(effects), component, TRUE, parameters), drop = FALSE], optional = TRUE)
}

clean_parameters.sbps <- function(x, ...) {
    groups <- parameter_groups(x)
    names <- unlist(groups, use.names = FALSE)
    kind <- rep(names(groups), lengths(groups))
    data.frame(Parameter = names, Effects = ifelse(kind == "random", "random", "fixed"), Component = ifelse(kind == "random", "conditional", kind),
               Cleaned_Parameter = names, stringsAsFactors = FALSE)
}

get_data.sbps <- function(x, effects = "all", ...) {
    bars <- if (identical(effects, "fixed")) NULL else unlist(lapply(bars_of(x$formula[[3]]), all.vars))
    terms <- stats::terms(fixed_part(plain_response(x$formula)), data = rows_of(x, NULL))
    as.data.frame(original_columns(x, unique(c(all.vars(terms), bars))))
}

find_algorithm.sbps <- function(x, ...) {
    list(algorithm = "sampling", chains = dim(x$draws)[2], iterations = dim(x$draws)[1], warmup = NA)
}

# A row for each prior in the description of the run.
get_priors.sbps <- function(x, ...) {
    lines <- grep(" ~ ", strsplit(prior_summary.sbps(x), "\n", fixed = TRUE)[[1]], value = TRUE, fixed = TRUE)
    name <- sub(" ~ .*", "", lines)
    text <- sub(".* ~ ", "", lines)
    inside <- sub("^[^(]*\\((.*)\\).*$", "\\1", text)
    numbers <- strsplit(inside, ",", fixed = TRUE)
    kind <- sub("\\(.*", "", text)
    number <- function(from_end) suppressWarnings(vapply(numbers, function(x) as.numeric(if (length(x) >= from_end) x[length(x) - from_end + 1] else NA), 1))
    two <- kind %in% c("normal", "student_t", "cauchy", "laplace")
    data.frame(Parameter = name, Distribution = kind, Location = ifelse(two, number(2), NA), Scale = ifelse(two, number(1), NA))
}

get_call.sbps <- function(x) x$call

n_parameters.sbps <- function(x, ...) sum(parts_of(x) == "fixed")

# ---- bayestestR: methods of its data frames, on the draws of the chosen parameters ----

with_object_name <- function(out, name) {
    attr(out, "object_name") <- name
    out
}

draws_method <- function(name) {
    force(name)
    function(x, effects = "fixed", component = "location", parameters = NULL, ...) {
        label <- insight::safe_deparse(substitute(x))
        values <- get_parameters.sbps(x, effects, component, parameters)
        with_object_name(getExportedValue("bayestestR", name)(values, ...), label)
    }
}

hdi.sbps <- draws_method("hdi")
eti.sbps <- draws_method("eti")
ci.sbps <- draws_method("ci")
bci.sbps <- draws_method("bci")
spi.sbps <- draws_method("spi")
p_direction.sbps <- draws_method("p_direction")
p_map.sbps <- draws_method("p_map")
map_estimate.sbps <- draws_method("map_estimate")
point_estimate.sbps <- draws_method("point_estimate")
estimate_density.sbps <- draws_method("estimate_density")

# Regions of practical equivalence: the default is that of the family and the response, as for other models.
range_method <- function(name, argument) {
    function(x, range = "default", effects = "fixed", component = "location", parameters = NULL, ...) {
        if (identical(range, "default")) range <- default_range(x)
        values <- get_parameters.sbps(x, effects, component, parameters)
        label <- insight::safe_deparse(substitute(x))
        arguments <- c(list(values), stats::setNames(list(range), argument), list(...))
        with_object_name(do.call(getExportedValue("bayestestR", name), arguments), label)
    }
}

default_range <- function(fit) {
    if (fit$word %in% c("gaussian", "student")) return(c(-0.1, 0.1) * stats::sd(response_of(fit, rows_of(fit, NULL))))
    if (fit$word %in% c("bernoulli", "binomial")) return(c(-0.1, 0.1) * pi / sqrt(3))
    c(-0.1, 0.1)
}

rope_range.sbps <- function(x, ...) default_range(x)
rope.sbps <- range_method("rope", "range")
p_rope.sbps <- range_method("p_rope", "range")
equivalence_test.sbps <- range_method("equivalence_test", "range")
p_significance.sbps <- function(x, threshold = "default", effects = "fixed", component = "location", parameters = NULL, ...) {
    if (identical(threshold, "default")) threshold <- default_range(x)[2]
    bayestestR::p_significance(get_parameters.sbps(x, effects, component, parameters), threshold = threshold, ...)
}

diagnostic_posterior.sbps <- function(posteriors, diagnostic = c("ESS", "Rhat"), effects = "fixed", component = "location", parameters = NULL, ...) {
    names <- find_parameters.sbps(posteriors, effects, component, TRUE, parameters)
    figures <- posteriors$figures[match(names, rownames(posteriors$figures)), , drop = FALSE]
    out <- data.frame(Parameter = names, Rhat = figures[, "rhat"], ESS = figures[, "ess_bulk"], MCSE = figures[, "mcse"], row.names = NULL)
    out[c("Parameter", if ("all" %in% diagnostic) c("Rhat", "ESS", "MCSE") else intersect(c("Rhat", "ESS", "MCSE"), diagnostic))]
}

effective_sample.sbps <- function(model, ...) diagnostic_posterior.sbps(model, "ESS", ...)
mcse.sbps <- function(model, ...) diagnostic_posterior.sbps(model, "MCSE", ...)

describe_posterior.sbps <- function(posteriors, ..., test = c("p_direction", "rope"), rope_range = "default", diagnostic = c("ESS", "Rhat"), priors = FALSE,
                                    effects = "fixed", component = "location", parameters = NULL) {
    if (any(c("bf", "bayesfactor", "bayes_factor", "all") %in% tolower(test))) {
        raise("SBPS_BAD_ARG", "test: Bayes factors need draws of the prior: hypothesis(fit, ..., prior = update(fit, prior_only = TRUE))")
    }
    if (identical(rope_range, "default")) rope_range <- default_range(posteriors)
    label <- insight::safe_deparse(substitute(posteriors))
    values <- get_parameters.sbps(posteriors, effects, component, parameters)
    out <- bayestestR::describe_posterior(values, ..., test = test, rope_range = rope_range)
    class <- class(out)
    by_name <- function(from) from[match(out$Parameter, from$Parameter), setdiff(names(from), "Parameter"), drop = FALSE]
    if (length(diagnostic)) out[setdiff(c("Rhat", "ESS", "MCSE"), setdiff(c("Rhat", "ESS", "MCSE"), diagnostic))] <-
        by_name(diagnostic_posterior.sbps(posteriors, diagnostic, effects, component, parameters))
    if (isTRUE(priors)) {
        own <- get_priors.sbps(posteriors)
        out[paste0("Prior_", names(own)[-1])] <- by_name(own)
    }
    structure(with_object_name(out, label), class = class)
}

bayesfactor_parameters.sbps <- function(posterior, ...) {
    raise("SBPS_BAD_ARG", "bayesfactor_parameters: a Bayes factor needs draws of the prior: hypothesis(fit, \"x = 0\", prior = update(fit, prior_only = TRUE))")
}

# ---- parameters ----

model_parameters.sbps <- function(model, centrality = "median", dispersion = FALSE, ci = 0.95, ci_method = "eti", test = "pd", rope_range = "default", rope_ci = 0.95,
                                  diagnostic = c("ESS", "Rhat"), priors = FALSE, effects = "fixed", component = "all", exponentiate = FALSE, keep = NULL, ...) {
    label <- insight::safe_deparse(substitute(model))
    out <- describe_posterior.sbps(model, centrality = centrality, dispersion = dispersion, ci = ci, ci_method = ci_method, test = test, rope_range = rope_range,
                                   rope_ci = rope_ci, diagnostic = diagnostic, priors = priors, effects = effects, component = component, parameters = keep)
    out <- as.data.frame(out)
    if (length(unique(out$CI)) == 1) out$CI <- NULL
    out <- out[setdiff(names(out), c("ROPE_CI", "ROPE_low", "ROPE_high"))]
    if (isTRUE(exponentiate)) {
        own <- out$Parameter %in% parameter_groups(model)$conditional
        for (name in intersect(c("Median", "Mean", "MAP", "CI_low", "CI_high"), names(out))) out[own, name] <- exp(out[own, name])
    }
    structure(out, ci = ci, ci_method = ci_method, exponentiate = exponentiate, object_name = label, parameter_info = clean_parameters.sbps(model),
              class = c("parameters_model", "see_parameters_model", "data.frame"))
}

# ---- broom ----

augment.sbps <- function(x, data = NULL, newdata = NULL, ...) {
    no_further_arguments(...)
    rows <- if (!is.null(newdata)) newdata else if (!is.null(data)) data else frame_of_fit(x, TRUE)
    predicted <- row_summaries(x, newdata, "mean", "error")
    if (!is.null(predicted$class)) raise("SBPS_BAD_ARG", "augment: a model of classes has a mean for each class: use posterior_epred(fit)")
    out <- as.data.frame(rows)
    if (nrow(out) != length(predicted$mean)) raise("SBPS_BAD_DATA", "augment: data has other rows than the fit: give new rows as newdata")
    out$.fitted <- predicted$mean
    out$.se.fit <- predicted$sd
    if (is.null(newdata)) out$.resid <- proportion_of(x, rows_of(x, NULL)) - predicted$mean
    out
}

# ---- bayesplot ----

figures_of <- function(fit, pars, regex_pars, column) {
    own <- chosen(rownames(fit$figures), pars, regex_pars)
    stats::setNames(fit$figures[own, column], own)
}
neff_ratio.sbps <- function(object, pars = NULL, regex_pars = NULL, ...) figures_of(object, pars, regex_pars, "ess_bulk") / nsamples.sbps(object)
rhat.sbps <- function(x, pars = NULL, regex_pars = NULL, ...) figures_of(x, pars, regex_pars, "rhat")
nuts_params.sbps <- function(object, ...) raise("SBPS_BAD_ARG", "nuts_params: a run has no record of trajectories: diagnose(fit) reports its problems")
log_posterior.sbps <- function(object, ...) raise("SBPS_BAD_ARG", "log_posterior: a run does not keep log posterior densities: diagnose(fit) reports its problems")

# ---- tidybayes (its defaults use as_draws_df and posterior_epred; these add its arguments) ----

tidy_draws.sbps <- function(model, ...) {
    values <- as.data.frame(model)
    size <- dim(model$draws)
    out <- cbind(data.frame(.chain = rep(seq_len(size[2]), each = size[1]), .iteration = rep(seq_len(size[1]), size[2]), .draw = seq_len(size[1] * size[2])), values)
    structure(out, class = c("tbl_df", "tbl", "data.frame"))
}

# New rows beside their draws: a row for each row, class and draw.
draws_of_rows <- function(values, newdata, value, category) {
    newdata <- as.data.frame(newdata)
    size <- dim(values)
    index <- expand.grid(.draw = seq_len(size[1]), .row = seq_len(size[2]), .class = if (length(size) == 3) dimnames(values)[[3]] else NA)
    out <- cbind(newdata[index$.row, , drop = FALSE], .row = index$.row, .chain = NA_integer_, .iteration = NA_integer_, .draw = index$.draw)
    if (length(size) == 3) out[[category]] <- index$.class
    out[[value]] <- as.vector(values)
    structure(out, row.names = .set_row_names(nrow(out)), class = c("tbl_df", "tbl", "data.frame"))
}

draws_for_tidybayes <- function(draw, usual) {
    function(object, newdata, ..., value = usual, ndraws = NULL, seed = NULL, re_formula = NULL, category = ".category", dpar = NULL) {
        if (!is.null(dpar)) raise("SBPS_BAD_ARG", "dpar: only the predictor of the mean has draws of rows")
        values <- draw(object, newdata = newdata, draws = ndraws, seed = seed, re.form = re_formula, ...)
        out <- draws_of_rows(values, newdata, value, category)
        if (is_installed("dplyr")) {
            groups <- c(names(newdata), ".row", if (length(dim(values)) == 3) category)
            out <- getExportedValue("dplyr", "grouped_df")(out, groups)
        }
        out
    }
}
epred_draws.sbps <- draws_for_tidybayes(function(...) posterior_epred.sbps(...), ".epred")
predicted_draws.sbps <- draws_for_tidybayes(function(...) posterior_predict.sbps(...), ".prediction")
linpred_draws.sbps <- draws_for_tidybayes(function(...) posterior_linpred.sbps(...), ".linpred")

# ---- marginaleffects: options(marginaleffects_model_classes = "sbps") makes it accept fits ----

get_coef.sbps <- function(model, ...) fixef.sbps(model)
get_vcov.sbps <- function(model, ...) NULL
get_predict.sbps <- function(model, newdata = get_data.sbps(model), type = "response", ...) {
    draw <- list(response = posterior_epred.sbps, link = posterior_linpred.sbps, prediction = posterior_predict.sbps)[[type]]
    if (is.null(draw)) raise("SBPS_BAD_ARG", "type: expected response, link or prediction")
    values <- draw(model, newdata = newdata)
    rows <- ncol(values)
    classes <- if (length(dim(values)) == 3) dimnames(values)[[3]] else "main_marginaleffect"
    flat <- matrix(values, nrow(values))
    structure(data.frame(rowid = rep(if (is.null(newdata$rowid)) seq_len(rows) else newdata$rowid, length(classes)), group = rep(classes, each = rows),
                         estimate = apply(flat, 2, median)), posterior_draws = t(flat))
}
