# Reads two chains' Stan CSV files with rstan; fails when draws or names are not those of the test.
suppressPackageStartupMessages(library(rstan))
options(warn = 2)
fit <- read_stan_csv(commandArgs(trailingOnly = TRUE))
w <- as.array(fit)
stopifnot(identical(dim(w), c(25L, 2L, 10L)))
stopifnot(identical(dimnames(w)[[3]][c(1, 2, 10)], c("intercept", "a_b", "lp__")))
stopifnot(all.equal(as.vector(w[, 2, "a_b"]), (225 + 9 * (0:24) + 1) / 7, tolerance = 1e-15))
stopifnot(all.equal(as.vector(w[, 1, "lp__"]), -(0:24)))
