# Generics that others have, too. Ours know fits of ours and hand all else on, so that it does not matter which package
# was attached last; theirs know our methods as soon as they are loaded (NAMESPACE).
there <- function(package) requireNamespace(package, quietly = TRUE)

hand_on <- function(package, name, object, ...) {
    if (!there(package)) stop(sprintf("%s: no method for an object of class '%s'", name, class(object)[1]), call. = FALSE)
    getExportedValue(package, name)(object, ...)
}

elsewhere <- function(package, name) function(object, ...) hand_on(package, name, object, ...)
x_elsewhere <- function(package, name) function(x, ...) hand_on(package, name, x, ...)

# A package that a method draws or computes with.
need <- function(package, name) {
    if (!there(package)) raise("SBPS_BAD_ARG", sprintf("%s: the package '%s' is not there", name, package))
}

no_more <- function(...) {
    names <- names(list(...))
    if (...length()) raise("SBPS_BAD_ARG", sprintf("no argument is called '%s' here", if (is.null(names)) "" else names[nzchar(names)][1]))
}

fixef <- function(object, ...) UseMethod("fixef")
ranef <- function(object, ...) UseMethod("ranef")
VarCorr <- function(x, sigma = 1, ...) UseMethod("VarCorr")
ngrps <- function(object, ...) UseMethod("ngrps")
posterior_interval <- function(object, ...) UseMethod("posterior_interval")
posterior_linpred <- function(object, ...) UseMethod("posterior_linpred")
posterior_epred <- function(object, ...) UseMethod("posterior_epred")
posterior_predict <- function(object, ...) UseMethod("posterior_predict")
predictive_interval <- function(object, ...) UseMethod("predictive_interval")
predictive_error <- function(object, ...) UseMethod("predictive_error")
log_lik <- function(object, ...) UseMethod("log_lik")
bayes_R2 <- function(object, ...) UseMethod("bayes_R2")
prior_summary <- function(object, ...) UseMethod("prior_summary")
nsamples <- function(object, ...) UseMethod("nsamples")
pp_check <- function(object, ...) UseMethod("pp_check")
loo <- function(x, ...) UseMethod("loo")
waic <- function(x, ...) UseMethod("waic")
loo_compare <- function(x, ...) UseMethod("loo_compare")
tidy <- function(x, ...) UseMethod("tidy")
glance <- function(x, ...) UseMethod("glance")
se <- function(object, ...) UseMethod("se")
diagnose <- function(object, ...) UseMethod("diagnose")

# Registered as default methods: called fixef.default, R would find ours where it looks for theirs.
fixef_elsewhere <- elsewhere("nlme", "fixef")
ranef_elsewhere <- elsewhere("nlme", "ranef")
VarCorr_elsewhere <- function(x, sigma = 1, ...) hand_on("nlme", "VarCorr", x, sigma = sigma, ...)
ngrps_elsewhere <- elsewhere("lme4", "ngrps")
posterior_interval_elsewhere <- elsewhere("rstantools", "posterior_interval")
posterior_linpred_elsewhere <- elsewhere("rstantools", "posterior_linpred")
posterior_epred_elsewhere <- elsewhere("rstantools", "posterior_epred")
posterior_predict_elsewhere <- elsewhere("rstantools", "posterior_predict")
predictive_interval_elsewhere <- elsewhere("rstantools", "predictive_interval")
predictive_error_elsewhere <- elsewhere("rstantools", "predictive_error")
log_lik_elsewhere <- elsewhere("rstantools", "log_lik")
bayes_R2_elsewhere <- elsewhere("rstantools", "bayes_R2")
prior_summary_elsewhere <- elsewhere("rstantools", "prior_summary")
nsamples_elsewhere <- elsewhere("rstantools", "nsamples")
pp_check_elsewhere <- elsewhere("bayesplot", "pp_check")
loo_elsewhere <- x_elsewhere("loo", "loo")
waic_elsewhere <- x_elsewhere("loo", "waic")
loo_compare_elsewhere <- x_elsewhere("loo", "loo_compare")
tidy_elsewhere <- x_elsewhere("generics", "tidy")
glance_elsewhere <- x_elsewhere("generics", "glance")
se_elsewhere <- elsewhere("rstanarm", "se")
