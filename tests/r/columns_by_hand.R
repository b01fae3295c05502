# Columns that R computes from a formula, against lm, glm and model.matrix on the same new rows; names that columns share with parameters
# and with what sbps() makes itself; the option output.
source(file.path(commandArgs(TRUE)[1], "checks.R"))
program <- commandArgs(TRUE)[2]
library(sbps)
quick <- function(...) suppressWarnings(sbps(..., ess = 10, chains = 1))
warning_of <- function(expression) {
    found <- NULL
    withCallingHandlers(expression, warning = function(w) {
        found <<- conditionMessage(w)
        invokeRestart("muffleWarning")
    })
    found
}
set.seed(1)
n <- 120
d <- data.frame(x = runif(n, 0, 10), z = runif(n, 1, 2), a = factor(sample(c("u", "v", "w"), n, TRUE)))
d$y <- sin(d$x) + d$z + as.integer(d$a) / 3 + rnorm(n) / 10
d$k <- rpois(n, exp(d$z - 1))
new <- data.frame(x = seq(2, 4, length.out = 50), z = seq(1.2, 1.4, length.out = 50), a = factor(rep(c("v", "u"), 25), levels = c("u", "v", "w")))

# ---- a vector of another length than the rows is never read ----
q <- rnorm(n)
fit <- quick(y ~ x + pmax(q, 0), d)
for (rows in c(1, n - 1, n + 1, 10 * n)) {
    refused(paste("a column from outside,", rows, "new rows"), "sbps_bad_data", sprintf("'pmax(q, 0)' has %d values for %d rows", n, rows),
            predict(fit, data.frame(x = runif(rows))))
}
check_that("as many new rows as it has values", near(predict(fit, d), predict(fit), 1e-9))
short <- rnorm(5)
refused("a short call at the fit", "sbps_bad_data", sprintf("'pmax(short, 0)' has 5 values for %d rows", n), quick(y ~ pmax(short, 0), d))
refused("a short variable at the fit", "sbps_bad_data", sprintf("'short' has 5 values for %d rows", n), quick(y ~ short, d))
refused("a short response", "sbps_bad_data", "'sort(y[1:9])' has 9 values", quick(sort(y[1:9]) ~ x, d))
refused("a list of new rows", "sbps_bad_data", "'z' has 2 values for 3 rows", predict(quick(y ~ x + z, d), list(x = 1:3, z = 1:2)))
refused("offset of new rows", "sbps_bad_data", sprintf("'offset' has %d values for 2 rows", n), predict(quick(y ~ x, d, offset = q), d[1:2, ]))
run <- tempfile(fileext = ".nc")
writeBin(fit$run, run)
glue <- getNamespace("sbps")
call_predict <- function(rows) .Call(glue$r_predict, run, rows, c("linear", "error"), c(0, 0, 1, 1))
glue_refuses <- function(what, words, expression) {
    e <- condition_of(expression)
    check_that(what, inherits(e, "error") && grepl(words, conditionMessage(e), fixed = TRUE))
}
glue_refuses("a short vector in .Call", "'pmax(q, 0)' has 3 values for 4 rows", call_predict(list(x = as.double(1:4), `pmax(q, 0)` = as.double(1:3))))
glue_refuses("another type in .Call", "'x' is of type complex", call_predict(list(x = 1i)))
glue_refuses("few names in .Call", "names of columns", call_predict(structure(list(1, 2), names = NULL)))
glue_refuses("few numbers in .Call", "numbers", .Call(glue$r_predict, run, NULL, c("linear", "error"), 0))
glue_refuses("few words in .Call", "words", .Call(glue$r_predict, run, NULL, "linear", c(0, 0, 1, 1)))
glue_refuses("a short vector to sample", "'x' has 3 values for 4 rows",
             .Call(glue$r_sample, list(y = as.double(1:4), x = as.double(1:3)), c("y", "x"), c(formula = "y ~ x", family = "gaussian"), "", run, FALSE, NULL))
glue_refuses("few names to sample", "names of columns", .Call(glue$r_sample, list(1, 2), "y", c(formula = "y ~ x"), "", run, FALSE, NULL))
if (is_installed("Matrix")) {
    entries <- Matrix::sparseMatrix(i = 1:3, j = 1:3, x = 1:3, dimnames = list(NULL, c("x", "z", "y")))
    entries@x <- 1
    torn <- structure(list(matrix = entries, beside = list()), class = "sbps_entries")
    glue_refuses("torn entries to sample", "entries", .Call(glue$r_sample, torn, colnames(entries), c(formula = "y ~ x"), "", run, FALSE, NULL))
}

# ---- statistics of all rows in a term are stored for new rows: the linear predictors are those of lm's design ----
by_lm <- function(formula, data = d, fit = quick(formula, data), rows = new, reference = formula) {
    what <- paste(deparse(formula), collapse = "")
    l <- lm(reference, data)
    terms <- delete.response(terms(l))
    x <- model.matrix(terms, model.frame(terms, rows, xlev = l$xlevels))
    colnames(x) <- if (identical(formula, reference)) colnames(x) else names(fixef(fit))
    draws <- as.matrix(fit)
    check_that(paste(what, "names"), setequal(names(fixef(fit)), colnames(x)))
    eta <- unname(draws[, colnames(x)] %*% t(x))
    got <- posterior_linpred(fit, newdata = rows)
    if (!near(got, eta, 1e-9)) cat(what, "off by", max(abs(got - eta)), "\n")
    check_that(paste(what, "new rows"), near(got, eta, 1e-9))
    check_that(paste(what, "mean of draws"), near(predict(fit, rows), colMeans(eta), 1e-2))
    check_that(paste(what, "by R's design"), near(condition_of(posterior_linpred(fit, newdata = rows, re.form = NA)), eta, 1e-10))
    own <- posterior_linpred(fit)
    check_that(paste(what, "own rows as new ones"), near(posterior_linpred(fit, newdata = data), own, 1e-9))
    invisible(fit)
}
for (formula in list(y ~ splines::ns(x, 4), y ~ splines::bs(x, df = 5) + z, y ~ stats::poly(x, 3), y ~ poly(pmin(x, 9), 2) + a, y ~ scale(pmax(x, 1)),
                     y ~ stats::poly(x, 2):a + z, y ~ splines::ns(x, 3) * z, y ~ poly(x, 3) + scale(z), y ~ poly(log(x + 1), 2, raw = TRUE) + a)) by_lm(formula)
by_lm(y ~ base::scale(x), reference = y ~ scale(x))
m <- mean(d$x)
by_lm(y ~ pmax(scale(x), 0) + z, reference = y ~ pmax((x - mean(d$x)) / sd(d$x), 0) + z)
by_lm(y ~ I(splines::ns(x, 3)[, 2]^2), reference = y ~ I(predict(splines::ns(d$x, 3), x)[, 2]^2))
degree <- 3
inside <- c(3, 7)
by_lm(y ~ poly(x, degree))
by_lm(y ~ splines::bs(x, knots = inside))
centred <- function(x) structure(x - mean(x), centre = mean(x), class = "centred")
makepredictcall.centred <- function(var, call) {
    call[[1]] <- quote(shifted)
    call$by <- attr(var, "centre")
    call
}
shifted <- function(x, by) structure(x - by, centre = by, class = "centred")
by_lm(y ~ centred(x) + z)
old <- options(contrasts = c("contr.sum", "contr.poly"))
fit <- quick(y ~ a + cut(x, 3), d)
options(old)
check_that("cut has the breaks of the fit's rows", near(predict(fit, d[3:9, ]), predict(fit)[3:9], 1e-9))
counts <- quick(k ~ splines::ns(x, 3) + offset(log(z)), d, family = poisson())
g <- glm(k ~ splines::ns(x, 3) + offset(log(z)), poisson(), d)
eta <- unname(as.matrix(counts) %*% t(model.matrix(delete.response(terms(g)), model.frame(delete.response(terms(g)), new))))
check_that("glm's design and offset", near(posterior_linpred(counts, newdata = new), sweep(eta, 2, log(new$z), "+"), 1e-9))
check_that("log_lik of new rows", near(log_lik(counts, newdata = d[1:5, ]), log_lik(counts)[, 1:5], 1e-8))
check_that("predictive_error of new rows", near(predictive_error(counts, newdata = d[1:5, ], draws = 7), predictive_error(counts, draws = 7)[, 1:5], 1e-8))
page <- sbps_report(counts, tempfile(fileext = ".html"))
check_that("the page by other rows", file.size(page) > 1000 && file.size(sbps_report(counts, tempfile(fileext = ".html"), data = d)) > 1000)
check_that("a term that depends on the other rows is named", grepl("'rank(x)' depend on the other rows", warning_of(predict(quick(y ~ rank(x), d), new)), fixed = TRUE))
check_that("others are not", is.null(warning_of(predict(quick(y ~ splines::ns(x, 3) + pmax(z, 0) + cut(x, 3), d), new))))
mixed <- quick(y ~ splines::ns(x, 3) + (1 | a), d)
check_that("with groups", near(predict(mixed, d[1:9, ]), predict(mixed)[1:9], 1e-9))

# ---- unusual new rows ----
fit <- quick(y ~ pmax(x, 0) + a, d)
check_that("no rows", identical(predict(fit, d[0, ]), numeric(0)) && all(dim(posterior_linpred(fit, newdata = d[0, ])) == c(nsamples(fit), 0)))
check_that("NA", identical(is.na(predict(fit, transform(d[1:3, ], x = c(NA, 1, 2)))), c(TRUE, FALSE, FALSE)))
refused("a column lacks", "sbps_bad_data", "newdata: no column 'x', which 'pmax(x, 0)' needs", predict(fit, d["a"]))
refused("a new level", "sbps_bad_data", "'some' is none of the levels", predict(fit, transform(d[1:2, ], a = c("u", "some"))))
check_that("unused levels", near(predict(fit, transform(d[1:2, ], a = factor(a, c("none", "w", "v", "u")))), predict(fit)[1:2], 1e-9))
check_that("no column is needed", near(predict(quick(y ~ 1, d), data.frame(row.names = 1:3)), rep(predict(quick(y ~ 1, d))[1], 3), 1e-9))
check_that("the response is not needed", length(predict(quick(pmax(y, 0) ~ x, d), d["x"])) == n)
d$m <- cbind(d$x, d$z)
by_matrix <- quick(y ~ m, d)
check_that("a matrix", near(posterior_linpred(by_matrix, newdata = d[4:5, "m", drop = FALSE]), posterior_linpred(by_matrix)[, 4:5], 1e-9))
refused("a matrix of other columns", "sbps_bad_data", "expected a matrix of 2 columns", predict(by_matrix, list(m = matrix(0, 2, 3))))
by_offset <- quick(y ~ x, d, weights = z, offset = x / 10)
check_that("weights are not needed, offset is", near(predict(by_offset, d["x"]), predict(by_offset), 1e-9))
refused("offset lacks", "sbps_bad_data", "newdata: offset: object 'w' not found", predict(quick(y ~ x, transform(d, w = z), offset = w), d["x"]))
by_call <- quick(y ~ x + offset(pmax(z, 1.5)), d)
check_that("offset of a call has no coefficient", identical(names(coef(by_call)), c("(Intercept)", "x")))
check_that("offset of a call, new rows", near(posterior_linpred(by_call, newdata = new), unname(as.matrix(by_call)[, 1:2] %*% rbind(1, new$x)) + rep(pmax(new$z, 1.5), each = nsamples(by_call)), 1e-9))
check_that("offset by name and re.form", near(posterior_linpred(quick(y ~ x, d, offset = "z"), re.form = NA), posterior_linpred(quick(y ~ x, d, offset = "z")), 1e-8))
refused("no rows at all", "sbps_bad_data", "no rows", quick(y ~ pmax(x, 0), d[0, ]))

# ---- columns with the names of parameters ----
set.seed(2)
named <- data.frame(sigma = rnorm(n), nu = rnorm(n), phi = rnorm(n), sd_g__x = rnorm(n), g = rep(c("one", "two, three", "four"), n / 3), w = runif(n, 1, 2))
named$y <- 3 * named$sigma - named$sd_g__x + rnorm(n)
plain <- setNames(named, c("a1", "a2", "a3", "a4", "g", "w", "y"))
both <- list(quick(y ~ sigma + nu + phi + sd_g__x + (1 + nu | g), named), quick(y ~ a1 + a2 + a3 + a4 + (1 + a2 | g), plain))
without_names <- function(x) if (is.list(x)) unname(lapply(x, without_names)) else unname(as.vector(x))
same <- function(what, f) check_that(paste(what, "with columns called sigma and sd_g__x"), isTRUE(all.equal(without_names(f(both[[1]])), without_names(f(both[[2]])))))
same("sigma", sigma)
same("fixef", fixef)
same("ranef", ranef)
same("coef", coef)
same("vcov", vcov)
same("VarCorr", VarCorr)
same("VarCorr, sd of the rest", function(fit) attr(VarCorr(fit), "sc"))
same("VarCorr, sds of groups", function(fit) attr(VarCorr(fit)$g, "stddev"))
same("as.matrix", as.matrix)
same("posterior_interval", posterior_interval)
same("residuals", residuals)
same("bayes_R2", bayes_R2)
same("log_lik", log_lik)
same("posterior_predict", function(fit) posterior_predict(fit, draws = 5))
same("tidy", function(fit) tidy(fit, c("fixed", "auxiliary"))$estimate)
same("tidy of groups", function(fit) tidy(fit, "ran_pars")$estimate)
same("glance", function(fit) glance(fit)$sigma)
same("se", se)
same("summary", function(fit) unclass(summary(fit))[, "mean"])
check_that("names of draws are distinct", !anyDuplicated(colnames(as.matrix(both[[1]]))) && all(c("sigma", "sigma.1") %in% colnames(as.matrix(both[[1]]))))
check_that("ngrps", identical(ngrps(both[[1]]), c(g = 3L)))
check_that("levels with commas", identical(rownames(ranef(both[[1]])$g), c("four", "one", "two, three")))
check_that("student", near(sigma(quick(y ~ nu + sigma, named, family = "student")), sigma(quick(y ~ a2 + a1, plain, family = "student"))))
check_that("without an intercept a column may be called so", identical(names(coef(quick(y ~ 0 + intercept, transform(named, intercept = nu)))), "intercept"))
odd <- transform(named, Intercept = nu)
odd[["(Intercept)"]] <- named$phi
check_that("(Intercept)", identical(names(coef(quick(y ~ `(Intercept)`, odd))), c("(Intercept)", "`(Intercept)`")))
check_that("Intercept of a group", identical(names(ranef(quick(y ~ Intercept + (0 + Intercept | g), odd))$g), "Intercept"))
refused("two of Intercept", "sbps_bad_data", "two effects of 'g' would be named 'Intercept'", quick(y ~ nu + (1 + Intercept | g), odd))
check_that("a polynomial that varies", identical(names(ranef(quick(y ~ nu + (poly(nu, 2) | g), named))$g), c("(Intercept)", "poly(nu, 2)1", "poly(nu, 2)2")))
check_that("a group with __", identical(names(VarCorr(quick(y ~ nu + (1 | a__b), transform(named, a__b = g)))), "a__b"))
under <- transform(named, .weights = phi, .offset = nu, .chain = 1, .draw = sigma)
under[["(weights)"]] <- named$w / 2
fit <- quick(y ~ .weights + .offset + .draw + `(weights)`, under, weights = w, offset = phi)
expected <- quick(y ~ phi + nu + sigma + half, transform(named, half = w / 2), weights = w, offset = phi)
check_that("columns called .weights, .offset, .draw and (weights) stay", identical(unname(as.matrix(fit)), unname(as.matrix(expected))))
check_that("and are predicted by", near(predict(fit, under[1:5, ]), predict(expected)[1:5], 1e-9))
coded <- transform(named, h = factor(rep(c("p", "q"), n / 2)), h1 = phi)
refused("a contrast with the name of a column", "sbps_bad_data", "two columns would be named 'h1'", quick(y ~ h + h1, coded, contrasts = list(h = "contr.sum")))
ordered <- quick(y ~ o, transform(named, o = factor(g, ordered = TRUE)))
check_that("another column of new rows with the name of a contrast", near(predict(ordered, transform(named, o = factor(g, ordered = TRUE), o.L = 99)), predict(ordered), 1e-9))

# ---- a prior for each coefficient, in the order of the columns as printed ----
printed_priors <- function(...) {
    lines <- sub(" +$", "", capture.output(prior_summary(quick(...))))
    lines[grepl(" ~ normal\\(0, [0-9]\\)$", lines)]
}
for (formula in list(y ~ poly(x, 2) + log(z), y ~ pmax(x, 0) + log(z) + scale(z), y ~ splines::ns(x, 2) + z, y ~ stats::poly(x, 2) + I(z > 1.5), y ~ ifelse(x == 4, 1, 0) + a, y ~ x + poly(z, 2, raw = TRUE))) {
    what <- paste(deparse(formula), "has a prior for each")
    printed <- setdiff(names(coef(quick(formula, d))), "(Intercept)")
    check_that(what, identical(gsub("`", "", printed_priors(formula, d, prior = normal(0, seq_along(printed)))), sprintf("%s ~ normal(0, %d)", printed, seq_along(printed))))
    refused(paste(what, "number"), "sbps_bad_arg", sprintf("prior: %d numbers for %d coefficients (%s", length(printed) + 1, length(printed), printed[1]),
            quick(formula, d, prior = normal(0, seq_len(length(printed) + 1))))
}
refused("locations of another number", "sbps_bad_arg", "prior: 2 numbers for 3 coefficients", quick(y ~ x + a, d, prior = normal(c(0, 0), 1:3)))
products <- transform(d, o = factor(a, ordered = TRUE), b = factor(x > 5))
printed <- names(coef(quick(y ~ o * b, products)))[-1]
check_that("products of contrasts", identical(printed_priors(y ~ o * b, products, prior = normal(0, seq_along(printed))), sprintf("%s ~ normal(0, %d)", printed, seq_along(printed))))

# ---- the option output ----
kept <- quick(y ~ x, d, output = "kept.nc")
check_that("output keeps the run", file.exists("kept.nc") && any(grepl("^x ", system2(program, c("summary", "kept.nc"), stdout = TRUE))))
bytes <- readBin("kept.nc", "raw", 1e7)
check_that("a run may be replaced", !inherits(condition_of(quick(y ~ x + z, d, output = "kept.nc")), "error") && !identical(bytes, readBin("kept.nc", "raw", 1e7)))
as_csv <- quick(y ~ x, d, output = "kept.csv")
check_that("by its ending", near(unname(as.matrix(read.csv("kept.csv")[, -(1:2)])), unname(as.matrix(as_csv))))
write.csv(d[c("y", "x")], "table.csv", row.names = FALSE)
before <- tools::md5sum("table.csv")
refused("the data are not replaced", "sbps_bad_arg", "is the data file", quick(y ~ x, "table.csv", output = "./table.csv"))
invisible(file.symlink("table.csv", "link.csv"))
refused("nor by another name", "sbps_bad_arg", "is the data file", quick(y ~ x, "table.csv", output = "link.csv"))
refused("what is no run is not replaced", "sbps_no_file", "is not a run of sbps", quick(y ~ x, d, output = "table.csv"))
check_that("nothing was written", identical(tools::md5sum("table.csv"), before))
refused("another ending", "sbps_bad_arg", "unknown ending", quick(y ~ x, d, output = "kept.rds"))
refused("no directory", "sbps_no_file", "no directory", quick(y ~ x, d, output = "nowhere/kept.nc"))
refused("a number", "sbps_bad_arg", "output: expected the name of a file", quick(y ~ x, d, output = 3))
end()
