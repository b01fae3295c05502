# Runs in a temporary folder, with the package installed: fit_by_hand.R PROGRAM
program <- commandArgs(TRUE)[1]
library(sbps)
failures <- 0
check_that <- function(what, true) {
    if (isTRUE(true)) return(invisible())
    failures <<- failures + 1
    cat("failed:", what, "\n")
}
is_installed <- function(package) requireNamespace(package, quietly = TRUE)
command_line <- function(...) system2(program, shQuote(c(...)), stdout = TRUE, stderr = FALSE)
sample_by_command <- function(file, formula, family, run, ...) {
    command_line("sample", file, formula, "--family", family, "-o", run, "--progress", "off", ...)
}
# The text of a summary without its times.
but_seconds <- function(lines) lines[!startsWith(lines, "seconds")]
condition_of <- function(expression) tryCatch(expression, error = identity)

# ---- the same draws and messages by the command line, from a file and from a data frame ----
write.csv(mtcars, "cars.csv", row.names = FALSE)
set.seed(1)
n <- 300
d <- data.frame(g = sample(paste0("g", 1:12), n, TRUE), a = sample(c("low", "mid", "top"), n, TRUE),
                x = round(rnorm(n), 6), b = sample(c(TRUE, FALSE), n, TRUE), k = sample(5L, n, TRUE))
d$y <- round(d$x + rnorm(12)[as.integer(sub("g", "", d$g))] + rnorm(n), 6)
write.csv(d, "groups.csv", row.names = FALSE)
cases <- list(list(file = "cars.csv", data = mtcars, formula = "am ~ wt + factor(cyl)", family = "bernoulli", r = binomial()),
              list(file = "cars.csv", data = mtcars, formula = "mpg ~ wt * hp", family = "gaussian", r = gaussian()),
              list(file = "groups.csv", data = d, formula = "y ~ x + a + b + k + (1 | g)", family = "gaussian", r = gaussian))
for (case in cases) {
    groups <- grepl("|", case$formula, fixed = TRUE)
    for (to in c("run.csv", "run.nc")) sample_by_command(case$file, case$formula, case$family, to, if (groups) c("--ranef", "all"))
    want <- unname(as.matrix(read.csv("run.csv")[, -(1:2)]))
    words <- sub("`sbps summary --ranef` shows", "ranef(fit) has", but_seconds(command_line("summary", "run.nc")), fixed = TRUE)
    for (data in list(case$data, case$file)) {
        fit <- suppressMessages(sbps(as.formula(case$formula), data, family = case$r))
        check_that(paste(case$formula, class(data), "draws"), identical(unname(as.matrix(fit)), want))
        check_that(paste(case$formula, class(data), "words"), identical(but_seconds(capture.output(print(fit))), words))
        check_that(paste(case$formula, "nobs"), nobs(fit) == nrow(case$data))
    }
    check_that(paste(case$formula, "diagnose"), identical(capture.output(print(diagnose(fit))), command_line("diagnose", "run.nc")))
}

# ---- rows as R has them ----
cars <- transform(mtcars, gear = factor(gear, c(5, 3, 4)), v = vs == 1, word = ifelse(cyl == 4, "few", "many"))
fit <- sbps(mpg ~ gear + v + word, cars)
check_that("names of columns are model.matrix's", identical(names(coef(fit)), colnames(model.matrix(mpg ~ gear + v + word, cars))))
check_that("near least squares", max(abs(coef(fit) - coef(lm(mpg ~ gear + v + word, cars))) / sqrt(diag(vcov(fit)))) < 0.5)
odd <- c("z10", "z2")[1 + mtcars$am]
fit <- sbps(mpg ~ wt + odd, mtcars)
check_that("a variable from outside, its levels as R sorts them", identical(names(coef(fit)), c("(Intercept)", "wt", "oddz2")))
holes <- mtcars
holes$wt[3] <- NA
fit <- sbps(mpg ~ wt, holes)
check_that("na.omit", nobs(fit) == 31 && identical(as.matrix(fit), as.matrix(sbps(mpg ~ wt, mtcars[-3, ]))))
check_that("na.fail", inherits(condition_of(sbps(mpg ~ wt, holes, na.action = na.fail)), "error"))
m <- as.matrix(mtcars)
check_that("a matrix", identical(as.matrix(sbps(mpg ~ wt + hp, m)), as.matrix(sbps(mpg ~ wt + hp, mtcars))))
back <- factor(mtcars$am, 1:0)
check_that("success is what is not the first level", coef(sbps(back ~ wt, mtcars, family = binomial()))["wt"] > 0)

# ---- methods ----
fit <- suppressMessages(sbps(y ~ x + (1 + x | g), d, ess = 300, chains = 2))
draws <- as.matrix(fit)
check_that("fixef", identical(fixef(fit), apply(draws[, c("(Intercept)", "x")], 2, median)))
check_that("ranef", identical(dim(ranef(fit)$g), c(12L, 2L)) && identical(names(ranef(fit)$g), c("(Intercept)", "x")))
check_that("coef", isTRUE(all.equal(coef(fit)$g$x, ranef(fit)$g$x + fixef(fit)[["x"]])))
check_that("VarCorr", isTRUE(all.equal(unname(attr(VarCorr(fit)$g, "stddev")), unname(colMeans(draws[, c("sd_g__Intercept", "sd_g__x")])))))
check_that("VarCorr, sigma", isTRUE(all.equal(attr(VarCorr(fit), "sc"), mean(draws[, "sigma"]))))
check_that("as.array", identical(unname(as.array(fit)[, 2, "x"]), unname(tail(draws[, "x"], nrow(draws) / 2))))
check_that("posterior_interval", identical(dim(posterior_interval(fit, pars = c("x", "sigma"))), c(2L, 2L)))
eta <- draws[, "(Intercept)"] + outer(draws[, "x"], d$x) + t(t(draws[, paste0("r_g[", d$g, ",Intercept]")])) + t(t(draws[, paste0("r_g[", d$g, ",x]")]) * d$x)
check_that("posterior_linpred", max(abs(posterior_linpred(fit) - eta)) < 1e-8)
check_that("posterior_epred", identical(posterior_epred(fit), posterior_linpred(fit)))
check_that("fitted", max(abs(fitted(fit) - colMeans(eta))) < 1e-8)
density <- dnorm(rep(d$y, each = nrow(eta)), eta, draws[, "sigma"], log = TRUE)
check_that("log_lik", max(abs(log_lik(fit) - density)) < 1e-6)
check_that("posterior_predict", identical(dim(posterior_predict(fit, newdata = d[1:3, ], draws = 50)), c(50L, 3L)))
new <- condition_of(predict(fit, transform(d[1:2, ], g = "other")))
check_that("a new level", inherits(new, "sbps_error") && startsWith(conditionMessage(new), "data: row 1: the run had no level 'other'"))
check_that("a new level, allowed", length(predict(fit, transform(d[1:2, ], g = "other"), allow_new_levels = TRUE)) == 2)
check_that("update", identical(formula(update(fit, . ~ . - x)), y ~ (1 + x | g)))
saveRDS(fit, "fit.rds")
check_that("saved and read", identical(capture.output(print(readRDS("fit.rds"))), capture.output(print(fit))))
sbps_report(fit, "page.html")
check_that("sbps_report", grepl("</html>", paste(readLines("page.html"), collapse = ""), fixed = TRUE))
check_that("sbps_loo", grepl("elpd_loo", sbps_loo(fit), fixed = TRUE))
classes <- sbps(gear ~ wt, transform(mtcars, gear = factor(gear)), family = "categorical")
check_that("classes", identical(dim(posterior_epred(classes, draws = 10)), c(10L, 32L, 3L)) && all(posterior_predict(classes, draws = 10) %in% 3:5))

# ---- with others ----
if (is_installed("posterior")) {
    summaries <- posterior::summarise_draws(posterior::as_draws_df(fit), rhat = posterior::rhat)
    check_that("posterior", max(abs(summaries$rhat - fit$figures[, "rhat"])) < 1e-6)
}
if (is_installed("nlme")) {
    check_that("nlme's generic knows our fits", identical(nlme::fixef(fit), fixef(fit)))
    check_that("our generic knows nlme's", length(fixef(nlme::lme(y ~ x, d, ~ 1 | g))) == 2)
}
if (is_installed("loo")) {
    elpd <- as.numeric(sub(".*elpd_loo +(-?[0-9.]+).*", "\\1", sbps_loo(fit)))
    theirs <- suppressWarnings(loo::loo(fit))$estimates["elpd_loo", "Estimate"]
    check_that("loo", abs(elpd - theirs) < 0.05 * abs(theirs) / 100)
}
if (is_installed("lme4")) {
    near <- function(what, fit, other) {
        off <- abs(fixef(fit) - lme4::fixef(other)) / sqrt(diag(as.matrix(vcov(other))))
        cat(sprintf("%-10s fixed effects at most %.2f standard errors from lme4's\n", what, max(off)))
        check_that(paste(what, "near lme4"), max(off) < 0.35)
    }
    near("sleepstudy", sbps(Reaction ~ Days + (Days | Subject), lme4::sleepstudy, ess = 2000),
         lme4::lmer(Reaction ~ Days + (Days | Subject), lme4::sleepstudy))
    near("cbpp", sbps(cbind(incidence, size - incidence) ~ period + (1 | herd), lme4::cbpp, family = binomial(), ess = 2000),
         lme4::glmer(cbind(incidence, size - incidence) ~ period + (1 | herd), lme4::cbpp, family = binomial()))
}

# ---- error messages and their classes ----
refused <- function(what, class, words, expression) {
    e <- condition_of(expression)
    check_that(what, inherits(e, c("sbps_error")) && inherits(e, class) && grepl(words, conditionMessage(e), fixed = TRUE))
}
refused("a name", "sbps_bad_arg", "no column is named 'wtt', did you mean 'wt'?", sbps(mpg ~ wtt, mtcars))
refused("an option", "sbps_bad_arg", "chains", sbps(mpg ~ wt, mtcars, chians = 3))
refused("a file", "sbps_no_file", "nowhere.csv", sbps(mpg ~ wt, "nowhere.csv"))
refused("a file twice", "sbps_bad_arg", "cars.csv and ./cars.csv are the same file", sbps(mpg ~ wt, c("cars.csv", "./cars.csv")))
refused("a prior", "sbps_bad_arg", "prior", sbps(mpg ~ wt, mtcars, prior = "normal(0"))
refused("a list", "sbps_bad_data", "column 'l' is of class", sbps(mpg ~ l, transform(mtcars, l = I(as.list(1:32)))))
refused("a link", "sbps_bad_arg", "poisson(sqrt)", sbps(carb ~ wt, mtcars, family = poisson("sqrt")))
refused("lengths", "sbps_bad_data", "lengths", sbps(y ~ x, list(y = 1:3, x = 1:4)))
refused("no data", "sbps_bad_arg", "expected a data frame", sbps(mpg ~ wt, 3))
refused("responses", "sbps_bad_data", "mpg", sbps(mpg ~ wt, mtcars, family = binomial()))

# without a family the response chooses
said <- character()
own <- withCallingHandlers(sbps(am ~ wt, mtcars), message = function(m) { said <<- c(said, conditionMessage(m)); invokeRestart("muffleMessage") })
check_that("a family by the response", identical(as.matrix(own), as.matrix(sbps(am ~ wt, mtcars, family = binomial()))) && family(own)$family == "binomial")
check_that("and a message", any(grepl("family bernoulli, because all targets are 0 or 1; family = gaussian() takes", said, fixed = TRUE)))
check_that("numbers", family(suppressMessages(sbps(mpg ~ wt, mtcars)))$family == "gaussian")
check_that("trials", suppressMessages(sbps(cbind(vs, am) ~ wt, mtcars))$word == "binomial")
write.csv(mtcars, "own.csv")
check_that("a file", identical(as.matrix(suppressMessages(sbps(am ~ wt, "own.csv"))), as.matrix(own)))
refused("three levels", "sbps_bad_arg", "choose --family categorical", sbps(cyl ~ wt, transform(mtcars, cyl = factor(cyl))))

cat(failures, "failures\n")
quit(status = failures > 0)
