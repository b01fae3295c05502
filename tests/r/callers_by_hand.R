# Invalid arguments: a condition, never a crash.
source(file.path(commandArgs(TRUE)[1], "checks.R"))
library(sbps)
quick <- function(...) suppressWarnings(sbps(..., ess = 10, chains = 1))
with_column <- function(z) c(mtcars, list(z = z))
of <- function(rows, ...) quick(am ~ wt, mtcars, family = sbps_model(rows, ...))

# ---- arguments ----
refused("a formula", "sbps_bad_arg", "formula: expected a formula", quick(3, mtcars))
refused("no data", "sbps_bad_arg", "expected a data frame", quick(mpg ~ wt, NULL))
refused("no name", "sbps_bad_arg", "name of a file", quick(mpg ~ wt, NA_character_))
refused("a matrix of texts", "sbps_bad_data", "only one class", quick(mpg ~ wt, matrix("a", 3, 2, dimnames = list(NULL, c("mpg", "wt")))))
refused("no rows", "sbps_bad_data", "no rows", quick(mpg ~ wt, mtcars[0, ]))
refused("NaN", "sbps_bad_data", "no rows", quick(mpg ~ wt, transform(mtcars, wt = NaN)))
refused("Inf", "sbps_bad_data", "not a finite number", quick(mpg ~ wt, transform(mtcars, wt = replace(wt, 2, Inf))))
refused("complex", "sbps_bad_data", "class 'complex'", quick(mpg ~ z, with_column(1i + 1:32)))
refused("raw", "sbps_bad_data", "class 'raw'", quick(mpg ~ z, with_column(as.raw(1:32))))
refused("a function", "sbps_bad_data", "lengths", quick(mpg ~ z, with_column(mean)))
refused("a factor whose codes have no levels", "sbps_bad_data", "is invalid", quick(mpg ~ z, with_column(structure(c(9L, 1:31), levels = c("a", "b"), class = "factor"))))
refused("weights below 0", "sbps_bad_data", "negative", quick(mpg ~ wt, mtcars, weights = -qsec))
refused("few weights", "sbps_bad_data", "3 values for 32 rows", quick(mpg ~ wt, mtcars, weights = 1:3))
refused("a subset", "sbps_bad_data", "3 values for 32 rows", quick(mpg ~ wt, mtcars, subset = c(TRUE, FALSE, TRUE)))
refused("seed", "sbps_bad_arg", "seed", sbps(mpg ~ wt, mtcars, seed = NaN))
refused("ess", "sbps_bad_arg", "ess", sbps(mpg ~ wt, mtcars, ess = list(3)))
refused("family", "sbps_bad_arg", "family", quick(mpg ~ wt, mtcars, family = function() 3))
refused("prior", "sbps_bad_arg", "scale above 0", quick(mpg ~ wt, mtcars, prior = normal(0, -1)))
check_that("an error in the formula", grepl("inside", conditionMessage(condition_of(quick(mpg ~ stop("inside"), mtcars)))))

# ---- a fit that was changed ----
fit <- quick(mpg ~ wt, mtcars)
refused("draws", "sbps_bad_arg", "draws: expected a whole number", posterior_predict(fit, draws = -1))
refused("new rows", "sbps_bad_arg", "newdata", predict(fit, 3))
refused("lacking", "sbps_bad_data", "column 'wt' is missing", predict(fit, mtcars["mpg"]))
check_that("NA among new rows", identical(is.na(predict(fit, data.frame(wt = c(NA, 2)))), c(TRUE, FALSE)))
broken <- fit
broken$run <- raw(10)
refused("other bytes", "sbps_bad_file", "not a run file", print(broken))
broken$run <- fit$run[1:2000]
refused("fewer bytes", "sbps_bad_file", "cut short", print(broken))
broken$run <- NULL
check_that("no bytes", inherits(condition_of(print(broken)), "error"))
set.seed(1)
for (k in 1:10) {
    bytes <- fit$run
    bytes[sample(length(bytes), 50)] <- as.raw(sample(0:255, 50, TRUE))
    broken$run <- bytes
    condition_of(suppressWarnings(capture.output(print(broken), diagnose(broken), predict(broken))))
}
saveRDS(fit, "fit.rds")
check_that("saved and reloaded", identical(predict(readRDS("fit.rds")), predict(fit)))
forked <- parallel::mclapply(1:2, function(seed) as.matrix(quick(mpg ~ wt, mtcars, seed = seed)), mc.cores = 2)
check_that("in forked processes", identical(forked[[2]], as.matrix(quick(mpg ~ wt, mtcars, seed = 2))))
gone <- transform(mtcars)
fit <- quick(mpg ~ wt, gone)
rm(gone)
check_that("data removed", length(fitted(fit)) == 32)

# ---- a model that is a function ----
logistic <- function(w, x, y) {
    eta <- drop(x %*% w)
    list(loglik = y * eta - log1p(exp(eta)), gradient = (y - plogis(eta)) * x)
}
own <- suppressWarnings(sbps(am ~ wt, mtcars, family = sbps_model(logistic, prior_sd = c(10, 2.5)), chains = 2, ess = 200))
its <- sbps(am ~ wt, mtcars, family = binomial(), prior = "normal(0,2.5)", prior_intercept = "normal(0,10)")
far <- abs(own$figures[, "mean"] - its$figures[, "mean"]) / sqrt(own$figures[, "mcse"]^2 + its$figures[, "mcse"]^2)
cat(sprintf("logistic regression as a function: means within %.1f standard errors of the library's\n", max(far)))
check_that("the library's answer", max(far) < 3.5 && identical(names(coef(own)), c("(Intercept)", "wt")))
named <- sbps_model(logistic, names = c("base", "slope"), prior_sd = c(10, 2.5), start = c(12, -4))
check_that("names", identical(names(coef(quick(am ~ wt, mtcars, family = named))), c("base", "slope")))
check_that("removed on the way", length(coef(of(function(w, x, y) {
    if (exists("mtcars", globalenv(), inherits = FALSE)) rm(mtcars, envir = globalenv())
    if (stats::runif(1) < 0.01) gc()
    w[1] <- w[1]
    logistic(w, x, y)
}, prior_sd = c(10, 2.5)))) == 2)
refused("an error", "sbps_bad_data", "function mine: no way", of(function(w, x, y) stop("no way")))
calls <- 0
refused("an error later", "sbps_bad_data", "function mine: late", of(function(w, x, y) {
    calls <<- calls + 1
    if (calls > 300) stop("late")
    logistic(w, x, y)
}, prior_sd = c(10, 2.5)))
refused("nothing", "sbps_bad_data", "expected a list of loglik and gradient", of(function(w, x, y) NULL))
refused("lengths", "sbps_bad_data", "one per row", of(function(w, x, y) list(loglik = 1:99, gradient = x)))
refused("a gradient's shape", "sbps_bad_data", "gradient: expected a matrix", of(function(w, x, y) list(loglik = y, gradient = y)))
refused("another gradient", "sbps_bad_file", "is not the derivative of its loglik", of(function(w, x, y) list(loglik = drop(x %*% w), gradient = 2 * x)))
refused("a jump", "sbps_bad_data", "did not return normally", of(function(w, x, y) invokeRestart("abort")))
out <- callCC(function(k) condition_of(of(function(w, x, y) k("over us"))))
check_that("a jump over us", inherits(out, "sbps_bad_data"))
refused("a fit within", "sbps_bad_data", "inner", of(function(w, x, y) {
    quick(mpg ~ wt, datasets::mtcars)
    stop("inner")
}))
refused("predictions", "sbps_bad_data", "the fit: new rows cannot be predicted", predict(own))
refused("no function", "sbps_bad_arg", "expected a function", sbps_model(3))

# ---- warnings: what a user can act on, at most one a fit ----
warnings_of <- function(expression) {
    seen <- character()
    withCallingHandlers(expression, warning = function(w) {
        seen <<- c(seen, conditionMessage(w))
        invokeRestart("muffleWarning")
    })
    seen
}
check_that("no warning of an ordinary fit", !length(warnings_of(sbps(mpg ~ wt, mtcars))))
check_that("nor of groups", !length(warnings_of(sbps(mpg ~ wt + (1 | cyl), mtcars, prior_sd = "normal(0,3)"))))
prior <- NULL
check_that("nor of a prior-only run", !length(warnings_of(prior <- sbps(mpg ~ wt, mtcars, family = gaussian(), prior_PD = TRUE))))
check_that("which it is", abs(sd(as.matrix(prior)[, "sigma"]) / sd(mtcars$mpg) - 1) < 0.15)
bad <- warnings_of(sbps(mpg ~ wt, mtcars, sampler = "sbps", batch_size = 8, band = 0.1, warmup = 0, epochs = 60, ess = NULL))
check_that("one warning of a bad fit", length(bad) == 1 && grepl("stated bias of .* above the budget of 0.02.*; see diagnose()", bad))
groups <- sbps(mpg ~ wt + (1 | cyl), mtcars, prior_sd = "normal(0,3)")
check_that("leave-one-group-out", grepl("elpd_logo .*one of 3 groups of cyl at a time", paste(sbps_loo(groups, group = "cyl"), collapse = " ")))
refused("of an unknown factor", "sbps_bad_arg", "'gear' is no grouping factor", sbps_loo(groups, group = "gear"))
refused("of no name", "sbps_bad_arg", "group: expected the name", sbps_loo(groups, group = 3))
end()
