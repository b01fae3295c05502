# Functions by the names of rstanarm: models as calls of sbps(), with rstanarm's defaults, priors, and refusals with the reason.

# ---- priors that only rstanarm has names for ----

hs <- function(df = 1, global_df = 1, global_scale = 0.01, slab_df = 4, slab_scale = 2.5) {
    structure(list(dist = "hs", df = df, location = 0, scale = 1, global_df = global_df, global_scale = global_scale, slab_df = slab_df, slab_scale = slab_scale),
              class = "sbps_prior")
}
decov <- function(regularization = 1, concentration = 1, shape = 1, scale = 1) {
    structure(list(dist = "decov", regularization = regularization, concentration = concentration, shape = shape, scale = scale), class = "sbps_prior")
}
lkj <- function(regularization = 1, scale = 10, df = 1, autoscale = TRUE) {
    structure(list(dist = "lkj", regularization = regularization, scale = scale, df = df, autoscale = autoscale), class = "sbps_prior")
}
default_prior_coef <- function(family) normal(0, 2.5, autoscale = TRUE)
default_prior_intercept <- function(family) structure(utils::modifyList(unclass(normal(0, 2.5, autoscale = TRUE)), list(location = NULL)), class = "sbps_prior")

# Priors without an equivalent: the reason and the alternative, by the name of the distribution.
refused_priors <- c(
    lasso = "lasso() has a random scale, which sbps does not have: use laplace(0, scale) with a fixed scale, or hs() for many coefficients",
    R2 = "R2() is rstanarm's prior of the explained variance, which sbps does not have: use normal() or student_t(), or the related prior = \"R2D2(mean_R2=0.5)\"",
    product_normal = "product_normal() is not supported: use hs() or laplace() for coefficients of which few are large",
    hs_plus = "hs_plus() is not supported: use hs(), the regularised horseshoe",
    dirichlet = "dirichlet() is not supported: thresholds of ordered outcomes have a prior of sbps, which prior_summary() lists",
    decov = "decov() is a prior of covariances of groups: give it as prior_covariance",
    lkj = "lkj() is a prior of covariances of groups: give it as prior_covariance"
)
refuse_prior <- function(dist, argument) {
    if (dist %in% names(refused_priors)) raise("SBPS_BAD_ARG", paste0(argument, refused_priors[[dist]]))
}

lasso <- function(df = 1, location = 0, scale = 2.5, autoscale = FALSE) refuse_prior("lasso", "")
R2 <- function(location = NULL, what = "mode") refuse_prior("R2", "")
product_normal <- function(df = 2, location = 0, scale = 1) refuse_prior("product_normal", "")
hs_plus <- function(df1 = 1, df2 = 1, global_df = 1, global_scale = 0.01, slab_df = 4, slab_scale = 2.5) refuse_prior("hs_plus", "")
dirichlet <- function(concentration = 1) structure(list(dist = "dirichlet", concentration = concentration), class = "sbps_prior")

# ---- prior_covariance ----

# Effects of each group, as columns of lme4's design; NULL: not one constant alone.
effects_per_group <- function(formula) {
    bars <- bars_of(formula[[3]])
    vapply(bars, function(bar) if (identical(bar[[2]], 1) && !is_call_of(bar, "||")) 1L else 2L, 1L)
}

same_number <- function(x) is.numeric(x) && length(unique(x)) == 1

# rstanarm draws the standard deviation of one effect a group as gamma(shape, scale), times sigma in models that have it. So the prior has
# an equivalent here for (1 | g) in families without sigma, shape or precision. NULL: there is none.
decov_as_options <- function(prior, made) {
    free <- isTRUE(made$word %in% c("bernoulli", "binomial", "binomial(probit)", "poisson", "negbinomial"))
    if (!free || any(effects_per_group(made$formula) != 1L) || !same_number(prior$shape) || !same_number(prior$scale)) return(NULL)
    rate <- number(1 / prior$scale[1])
    list(prior_sd = if (prior$shape[1] == 1) sprintf("exponential(%s)", rate) else sprintf("gamma(%s,%s)", number(prior$shape[1]), rate))
}

covariance_options <- function(prior, made) {
    if (!has_groups(made$formula)) return(list())
    if (!is.list(prior) || !isTRUE(prior$dist %in% c("decov", "lkj"))) raise("SBPS_BAD_ARG", "prior_covariance: expected decov() or lkj()")
    if (prior$dist == "lkj") {
        if (isTRUE(prior$autoscale)) raise("SBPS_BAD_ARG", "prior_covariance: lkj() with autoscale = TRUE is not supported: give the scale with autoscale = FALSE")
        spread <- sprintf("student_t(%s,0,%s)", number(prior$df), number(prior$scale))
        return(list(prior_sd = spread, prior_cor = sprintf("lkj(%s)", number(prior$regularization))))
    }
    out <- decov_as_options(prior, made)
    if (is.null(out)) {
        raise("SBPS_BAD_ARG", paste("prior_covariance: decov() has an equivalent for (1 | g) in families without sigma or shape only, as it scales by sigma and",
                                    "divides a total variance: use prior_sd and prior_cor, as in prior_sd = \"exponential(1)\", prior_cor = \"lkj(1)\""))
    }
    out
}

# What rstanarm does by default: scales of priors are multiplied by 1.6 for the probit link, families without an auxiliary
# parameter have no prior of one, and groups have decov().
rstanarm_defaults <- function(given, made) {
    if (!made$word %in% names(aux_option)) given$prior_aux <- NULL
    if (identical(made$word, "binomial(probit)")) {
        for (name in c("prior", "prior_intercept")) if (is_prior(given[[name]])) given[[name]]$scale <- given[[name]]$scale * stats::dnorm(0) / stats::dlogis(0)
    }
    own <- c("prior_covariance", "prior_sd", "prior_cor")
    if (!has_groups(made$formula) || any(own %in% names(given))) return(given)
    options <- decov_as_options(decov(), made)
    if (is.null(options)) message("groups have sbps's priors of standard deviations and correlations, not rstanarm's decov(): see prior_summary()")
    c(given, options)
}

# ---- models ----

# The call of sbps() for a call of rstanarm. `defaults`: arguments to add. NULL priors are flat in rstanarm.
as_sbps_call <- function(call, defaults, env) {
    call[[1]] <- quote(sbps::sbps)
    for (name in intersect(c("prior", "prior_intercept", "prior_aux"), names(call))) if (is.null(eval(call[[name]], env))) call[[name]] <- "flat"
    for (name in setdiff(names(defaults), names(call))) call[[name]] <- defaults[[name]]
    call
}

usual_priors <- list(prior = quote(sbps::default_prior_coef()), prior_intercept = quote(sbps::default_prior_intercept()), prior_aux = quote(sbps::exponential(autoscale = TRUE)))

fit_as <- function(call, defaults, env) eval(as_sbps_call(call, c(defaults, list(from = "rstanarm")), env), env)

stan_glm <- function(formula, family = gaussian(), data, weights, subset, na.action = NULL, offset = NULL, ...) {
    fit_as(match.call(), c(list(family = quote(stats::gaussian())), usual_priors), parent.frame())
}
stan_glmer <- function(formula, data = NULL, family = gaussian, subset, weights, na.action, offset, contrasts = NULL, ...) {
    fit_as(match.call(), c(list(family = quote(stats::gaussian())), usual_priors), parent.frame())
}
stan_lmer <- function(formula, data = NULL, ...) {
    fit_as(match.call(), c(list(family = quote(stats::gaussian())), usual_priors), parent.frame())
}
stan_glm.nb <- function(formula, data, weights, subset, na.action = NULL, offset = NULL, link = "log", ...) {
    call <- match.call()
    if (!identical(link, "log")) raise("SBPS_BAD_ARG", "link: only log is supported")
    call$link <- NULL
    fit_as(call, c(list(family = quote(sbps::neg_binomial_2())), usual_priors), parent.frame())
}
stan_glmer.nb <- stan_glm.nb

stan_betareg <- function(formula, data, subset, na.action, weights, offset, link = "logit", link.phi = NULL, ...) {
    call <- match.call()
    if (!identical(link, "logit")) raise("SBPS_BAD_ARG", "link: only logit is supported for Beta models")
    if (is_call_of(formula[[3]], "|")) raise("SBPS_BAD_ARG", "formula: a model of the precision, as in y ~ x | z, is not supported: phi is one number")
    if (any(c("prior_z", "prior_intercept_z") %in% names(call))) raise("SBPS_BAD_ARG", "prior_z: a model of the precision is not supported: phi is one number")
    call[c("link", "link.phi")] <- NULL
    names(call)[names(call) == "prior_phi"] <- "prior_aux"
    fit_as(call, c(list(family = "Beta"), usual_priors), parent.frame())
}

stan_polr <- function(formula, data, weights, ..., subset, na.action, contrasts = NULL, method = "logistic", prior, prior_counts) {
    call <- match.call()
    if (!identical(method, "logistic")) raise("SBPS_BAD_ARG", "method: only logistic is supported")
    if (missing(prior)) raise("SBPS_BAD_ARG", paste("prior:", refused_priors[["R2"]]))
    force(prior)
    call$method <- NULL
    if (!missing(prior_counts) && !identical(unclass(prior_counts)$dist, "dirichlet")) raise("SBPS_BAD_ARG", "prior_counts: expected dirichlet(1)")
    call$prior_counts <- NULL
    message("stan_polr: thresholds have sbps's prior, not dirichlet(): see prior_summary()")
    fit_as(call, list(family = "cumulative"), parent.frame())
}

# Models that sbps does not have.
refused_model <- function(name, reason) {
    force(name)
    force(reason)
    function(...) raise("SBPS_BAD_ARG", sprintf("%s: %s", name, reason))
}
stan_lm <- refused_model("stan_lm", paste(refused_priors[["R2"]], "in stan_glm(..., family = gaussian())"))
stan_aov <- refused_model("stan_aov", paste(refused_priors[["R2"]], "in stan_glm(..., family = gaussian())"))
stan_biglm <- refused_model("stan_biglm", "sbps(formula, \"file.csv\") fits tables of any size from their rows")
stan_gamm4 <- refused_model("stan_gamm4", "smooth terms s(x) are not supported: use splines, as in sbps(y ~ ns(x, 5) + (1 | g), data)")
stan_nlmer <- refused_model("stan_nlmer", "nonlinear models are not supported: a likelihood of your own can be an sbps_model()")
stan_clogit <- refused_model("stan_clogit", "conditional logistic regression is not supported: use sbps(y ~ x + (1 | stratum), data, family = binomial())")
stan_jm <- refused_model("stan_jm", "joint models of longitudinal and survival data are not supported")
stan_mvmer <- refused_model("stan_mvmer", "models of several responses are not supported: fit one model for each")
launch_shinystan <- refused_model("launch_shinystan", "it needs a fit by Stan: sbps_report(fit, \"fit.html\") writes a page with the same plots")
kfold <- refused_model("kfold", "not supported: loo(fit) estimates the same; sbps(..., subset = ...) with score(fit, newdata) scores rows that were left out")

# ---- the prior beside the posterior ----

posterior_vs_prior <- function(object, pars = NULL, regex_pars = NULL, prob = 0.5, ...) {
    no_further_arguments(...)
    if (!inherits(object, "sbps")) raise("SBPS_BAD_ARG", "posterior_vs_prior: expected a fit by sbps")
    need("bayesplot", "posterior_vs_prior")
    prior <- suppressWarnings(suppressMessages(eval(update(object, prior_only = TRUE, evaluate = FALSE), environment(object$formula))))
    names <- if (is.null(pars) && is.null(regex_pars)) rownames(object$figures)[parts_of(object) != "effect"] else chosen(rownames(object$figures), pars, regex_pars)
    rows <- lapply(list(Prior = prior, Posterior = object), function(fit) {
        draws <- as.matrix(fit, names)
        limits <- interval_of(draws, prob)
        data.frame(parameter = names, low = limits[, 1], middle = apply(draws, 2, median), high = limits[, 2], row.names = NULL)
    })
    data <- do.call(rbind, Map(cbind, rows, model = factor(names(rows), names(rows))))
    at <- function(name) getExportedValue("ggplot2", name)
    aes <- do.call(at("aes"), list(x = quote(parameter), y = quote(middle), ymin = quote(low), ymax = quote(high), colour = quote(parameter)))
    at("ggplot")(data, aes) +
        at("geom_pointrange")() + at("facet_wrap")("model") + at("theme")(legend.position = "none") + at("labs")(x = NULL, y = NULL)
}
