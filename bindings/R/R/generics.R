# Generics that other packages have, too. Ours dispatch other objects to those packages, so that the order of attaching does not
# matter; our methods are registered with theirs when they are loaded (NAMESPACE).
is_installed <- function(package) requireNamespace(package, quietly = TRUE)

dispatch_to <- function(package, name, object, ...) {
    if (!is_installed(package)) stop(sprintf("%s: no method for an object of class '%s'", name, class(object)[1]), call. = FALSE)
    getExportedValue(package, name)(object, ...)
}

default_method <- function(package, name) function(object, ...) dispatch_to(package, name, object, ...)
default_method_x <- function(package, name) function(x, ...) dispatch_to(package, name, x, ...)

# Raises an error if a package that a method needs is missing.
need <- function(package, name) {
    if (!is_installed(package)) raise("SBPS_BAD_ARG", sprintf("%s: the package '%s' is not installed", name, package))
}

no_further_arguments <- function(...) {
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
augment <- function(x, ...) UseMethod("augment")
hypothesis <- function(x, ...) UseMethod("hypothesis")
contrast <- function(object, ...) UseMethod("contrast")
check <- function(object, ...) UseMethod("check")
score <- function(object, ...) UseMethod("score")
neff_ratio <- function(object, ...) UseMethod("neff_ratio")
rhat <- function(x, ...) UseMethod("rhat")

# Registered as default methods. With the name fixef.default, generics of other packages would find them, too.
fixef_elsewhere <- default_method("nlme", "fixef")
ranef_elsewhere <- default_method("nlme", "ranef")
VarCorr_elsewhere <- function(x, sigma = 1, ...) dispatch_to("nlme", "VarCorr", x, sigma = sigma, ...)
ngrps_elsewhere <- default_method("lme4", "ngrps")
posterior_interval_elsewhere <- default_method("rstantools", "posterior_interval")
posterior_linpred_elsewhere <- default_method("rstantools", "posterior_linpred")
posterior_epred_elsewhere <- default_method("rstantools", "posterior_epred")
posterior_predict_elsewhere <- default_method("rstantools", "posterior_predict")
predictive_interval_elsewhere <- default_method("rstantools", "predictive_interval")
predictive_error_elsewhere <- default_method("rstantools", "predictive_error")
log_lik_elsewhere <- default_method("rstantools", "log_lik")
bayes_R2_elsewhere <- default_method("rstantools", "bayes_R2")
prior_summary_elsewhere <- default_method("rstantools", "prior_summary")
nsamples_elsewhere <- default_method("rstantools", "nsamples")
pp_check_elsewhere <- default_method("bayesplot", "pp_check")
loo_elsewhere <- default_method_x("loo", "loo")
waic_elsewhere <- default_method_x("loo", "waic")
loo_compare_elsewhere <- default_method_x("loo", "loo_compare")
tidy_elsewhere <- default_method_x("generics", "tidy")
glance_elsewhere <- default_method_x("generics", "glance")
se_elsewhere <- default_method("rstanarm", "se")
augment_elsewhere <- default_method_x("generics", "augment")
hypothesis_elsewhere <- default_method_x("brms", "hypothesis")
contrast_elsewhere <- default_method("emmeans", "contrast")
neff_ratio_elsewhere <- default_method("bayesplot", "neff_ratio")
rhat_elsewhere <- default_method_x("posterior", "rhat")
