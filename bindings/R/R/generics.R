# Generics that others have, too. Ours know fits of ours and hand all else on, so that it does not matter which package
# was attached last; theirs know our methods as soon as they are loaded (NAMESPACE).
elsewhere <- function(package, name) {
    function(object, ...) {
        if (!requireNamespace(package, quietly = TRUE)) {
            stop(sprintf("%s: no method for an object of class '%s'", name, class(object)[1]), call. = FALSE)
        }
        getExportedValue(package, name)(object, ...)
    }
}

fixef <- function(object, ...) UseMethod("fixef")
ranef <- function(object, ...) UseMethod("ranef")
VarCorr <- function(x, sigma = 1, ...) UseMethod("VarCorr")
posterior_interval <- function(object, ...) UseMethod("posterior_interval")
posterior_linpred <- function(object, ...) UseMethod("posterior_linpred")
posterior_epred <- function(object, ...) UseMethod("posterior_epred")
posterior_predict <- function(object, ...) UseMethod("posterior_predict")
predictive_interval <- function(object, ...) UseMethod("predictive_interval")
log_lik <- function(object, ...) UseMethod("log_lik")
diagnose <- function(object, ...) UseMethod("diagnose")

fixef.default <- elsewhere("nlme", "fixef")
ranef.default <- elsewhere("nlme", "ranef")
VarCorr.default <- function(x, sigma = 1, ...) elsewhere("nlme", "VarCorr")(x, sigma = sigma, ...)
posterior_interval.default <- elsewhere("rstantools", "posterior_interval")
posterior_linpred.default <- elsewhere("rstantools", "posterior_linpred")
posterior_epred.default <- elsewhere("rstantools", "posterior_epred")
posterior_predict.default <- elsewhere("rstantools", "posterior_predict")
predictive_interval.default <- elsewhere("rstantools", "predictive_interval")
log_lik.default <- elsewhere("rstantools", "log_lik")
