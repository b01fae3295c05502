# Rows of data frames against R's model.matrix: the linear predictors of draws are its product with them.
source(file.path(commandArgs(TRUE)[1], "checks.R"))
library(sbps)
cars <- transform(mtcars, o = factor(cyl, ordered = TRUE), g = factor(gear), v = vs == 1, word = ifelse(carb > 2, "many", "few"),
                  five = factor(pmin(carb, 5), ordered = TRUE))
quick <- function(formula, ...) suppressWarnings(sbps(formula, ..., ess = 10, chains = 1))
design_is <- function(formula, data = cars, ..., new = data[c(5, 1, 9), ]) {
    what <- paste(deparse(formula), collapse = "")
    fit <- quick(formula, data, ...)
    frame <- model.frame(delete.response(terms(formula, data = data)), data)
    x <- model.matrix(terms(frame), frame, ...)
    draws <- as.matrix(fit)
    check_that(paste(what, "names"), setequal(names(coef(fit)), colnames(x)))
    eta <- function(x) unname(draws[, colnames(x), drop = FALSE] %*% t(x))
    check_that(paste(what, "own rows"), near(posterior_linpred(fit), eta(x)))
    newer <- model.matrix(terms(frame), model.frame(terms(frame), new, xlev = .getXlevels(terms(frame), frame)), ...)
    check_that(paste(what, "new rows"), near(posterior_linpred(fit, newdata = new), eta(newer)))
    check_that(paste(what, "by R's design"), near(condition_of(posterior_linpred(fit, re.form = NA)), eta(x)))
}
design_is(mpg ~ wt * o)
design_is(mpg ~ o * g)
design_is(mpg ~ 0 + o + wt:o)
design_is(mpg ~ 0 + g + o)
design_is(mpg ~ wt + five)
design_is(mpg ~ wt:o + v + word)
design_is(mpg ~ 0 + factor(carb > 2) + o)
design_is(mpg ~ as.factor(cyl) + ifelse(hp > 100, 1, 0) + poly(wt, 2))
design_is(mpg ~ g, contrasts = list(g = "contr.sum"))
design_is(mpg ~ wt + g * v, contrasts = list(g = "contr.helmert"))
design_is(mpg ~ ., cars[c("mpg", "wt", "o")])
old <- options(contrasts = c("contr.sum", "contr.poly"))
design_is(mpg ~ g + wt)
options(old)

x <- as.matrix(mtcars[c("wt", "hp")])
fit <- quick(mpg ~ x, mtcars)
check_that("a matrix in a formula", identical(names(coef(fit)), c("(Intercept)", "xwt", "xhp")) && near(posterior_linpred(fit), unname(as.matrix(fit)[, 1:3] %*% t(cbind(1, x)))))
mixed <- quick(mpg ~ wt + (o | g), cars)
check_that("an ordered factor varies by groups", identical(names(ranef(mixed)$g), c("(Intercept)", "o.L", "o.Q")))

# ---- weights, offset and subset as in glm; text as on the command line ----
d <- transform(mtcars, w = qsec / 10, off = hp / 100)
same <- function(what, a, b) check_that(what, identical(unname(as.matrix(a)), unname(as.matrix(b))))
same("weights", quick(mpg ~ wt, mtcars, weights = qsec / 10), quick(mpg ~ wt, d, weights = "w"))
same("weights by name", quick(mpg ~ wt, d, weights = w), quick(mpg ~ wt, d, weights = "w"))
same("offset", quick(mpg ~ wt, mtcars, offset = hp / 100), quick(mpg ~ wt + offset(off), d))
same("subset", quick(mpg ~ wt + g, cars, subset = gear > 3), quick(mpg ~ wt + g, cars[cars$gear > 3, ]))
off <- quick(mpg ~ wt, mtcars, offset = hp / 100)
check_that("an offset of new rows", near(predict(off, mtcars[3:4, ]), predict(off)[3:4]))
local({
    w <- d$w
    same("weights from where the formula was written", quick(mpg ~ wt, mtcars, weights = w), quick(mpg ~ wt, d, weights = "w"))
})
write.csv(d, "d.csv", row.names = FALSE)
d <- read.csv("d.csv")
same("weights of a file", suppressMessages(quick(mpg ~ wt, "d.csv", weights = w)), quick(mpg ~ wt, d, weights = "w"))
long <- sbps(mpg / 10 ~ wt, mtcars, weights = qsec / 10, offset = hp / 100, subset = cyl > 4, ess = 1000)
check_that("near lm with weights, offset and subset", max(abs(coef(long) - coef(lm(mpg / 10 ~ wt, mtcars, weights = qsec / 10, offset = hp / 100, subset = cyl > 4))) / se(long)[1:2]) < 0.3)

# ---- rows in memory are read as those of a file ----
looked <- data.frame(wt = mtcars$wt, v = mtcars$vs == 1, word = cars$word, g = cars$g, carb = mtcars$carb, mpg = mtcars$mpg)
seen <- quick(mpg ~ wt + v + word + (1 | carb), looked)
looked$wt[4] <- NA
looked$v[5] <- NA
looked$word[6] <- NA
looked$carb[7] <- NA
write.csv(looked, "looked.csv", row.names = FALSE)
check_that("draws of rows, by memory and by file", identical(posterior_linpred(seen, newdata = looked), posterior_linpred(seen, newdata = "looked.csv")))
check_that("rows that lack cells", identical(which(is.na(posterior_linpred(seen, newdata = looked)[1, ])), 4:7))
check_that("densities, by memory and by file", identical(log_lik(seen, newdata = looked[-(4:7), ]), log_lik(seen, newdata = "looked.csv")[, -(4:7)]))
levels(looked$g) <- c("few", "many", "most")
check_that("a factor in the place of texts", near(predict(seen, transform(looked[1:3, ], word = factor(c("few", "few", "many")))), predict(seen, transform(looked[1:3, ], word = c("few", "few", "many")))))
refused("a level that is new", "sbps_bad_data", "data: row 2: column 'word': 'some' is none of the levels that the run had", predict(seen, transform(looked[1:3, ], word = c("few", "some", "many"))))

# ---- NA, data.table, tibbles, lists ----
holes <- mtcars
holes$wt[3] <- NA
excluded <- quick(mpg ~ wt, holes, na.action = na.exclude)
check_that("na.exclude", length(fitted(excluded)) == 32 && identical(which(is.na(residuals(excluded))), 3L) && nobs(excluded) == 31)
check_that("na.omit", length(fitted(quick(mpg ~ wt, holes))) == 31)
same("a list", quick(mpg ~ wt, as.list(mtcars)), quick(mpg ~ wt, mtcars))
if (is_installed("data.table")) {
    table <- data.table::as.data.table(cars)
    same("a data.table", quick(mpg ~ wt + o + word, table), quick(mpg ~ wt + o + word, cars))
    check_that("a data.table predicted", near(predict(quick(mpg ~ wt, table), table[1:3]), predict(quick(mpg ~ wt, cars), cars[1:3, ])))
} else cat("data.table is not there: its tables are not tried\n")

if (is_installed("Matrix")) {
    sparse <- Matrix::Matrix(as.matrix(mtcars[c("mpg", "am", "vs", "wt")]), sparse = TRUE)
    from <- quick(mpg ~ am + vs, sparse)
    check_that("a dgCMatrix", inherits(sparse, "dgCMatrix") && identical(as.matrix(from), as.matrix(quick(mpg ~ am + vs, mtcars))))
    check_that("a dgCMatrix predicted", near(predict(from, sparse[1:3, ]), predict(from)[1:3]))
    response <- mtcars$mpg
    same("a response beside it", quick(response ~ am + vs, sparse, weights = wt), quick(mpg ~ am + vs, mtcars, weights = wt))
    design_is(mpg ~ ., as.data.frame(as.matrix(sparse)))
    check_that("entries stay entries", inherits(from$data, "sbps_entries") && nobs(from) == 32 && near(residuals(from), mtcars$mpg - fitted(from)))
    check_that("densities of entries", near(log_lik(from, newdata = sparse[1:5, ]), log_lik(from)[, 1:5]))
    check_that("R's design of entries", near(posterior_linpred(from, re.form = NA), posterior_linpred(from)))
    same("a pattern of 0 and 1", quick(response ~ ., Matrix::Matrix(as.matrix(mtcars[c("am", "vs")]) > 0, sparse = TRUE)), quick(mpg ~ am + vs, mtcars))
    holes <- sparse
    holes[3, "am"] <- NA
    same("entries that are missing", quick(mpg ~ am + vs, holes), quick(mpg ~ am + vs, mtcars[-3, ]))
} else cat("Matrix is not there: sparse matrices are not tried\n")

# ---- priors as in rstanarm ----
same("normal", quick(mpg ~ wt, mtcars, prior = normal(0, 1)), quick(mpg ~ wt, mtcars, prior = "normal(0,1)"))
same("an intercept at the means", quick(mpg ~ wt, mtcars, prior_intercept = normal(20, 1)), quick(mpg ~ wt, mtcars, prior_intercept = "normal(20,1)", prior_intercept_at = "mean"))
same("aux", quick(mpg ~ wt, mtcars, prior_aux = exponential(2)), quick(mpg ~ wt, mtcars, prior_sigma = "exponential(2)"))
same("one for each", quick(mpg ~ wt + hp, mtcars, prior = student_t(3, 0, c(1, 2))), quick(mpg ~ wt + hp, mtcars, prior = "wt=student_t(3,0,1); hp=student_t(3,0,2)"))
lines <- capture.output(prior_summary(quick(mpg ~ wt + am, mtcars, prior = normal(0, 5, autoscale = TRUE))))
check_that("autoscale", any(grepl(sprintf("am ~ normal(0, %.4g)", 5 * sd(mtcars$mpg) / sd(mtcars$am)), lines, fixed = TRUE)))
refused("an unknown prior", "sbps_bad_arg", "unknown prior 'spike'", sbps(mpg ~ wt, mtcars, prior = list(dist = "spike")))
same("hs", quick(mpg ~ ., mtcars, prior = hs(global_scale = 0.1)), quick(mpg ~ ., mtcars, prior = "hs(1,1,0.1,4,2.5)"))
refused("numbers of priors", "sbps_bad_arg", "3 numbers for 2 coefficients (wt, hp)", sbps(mpg ~ wt + hp, mtcars, prior = normal(c(0, 0, 0), 1)))
end()
