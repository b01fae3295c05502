# Called by categorical.sh: the mode under wide priors is that of nnet::multinom, moments are those of quadrature, mean
# probabilities and the elpd of loo are those of the draws.
table <- read.csv("t.csv")
check <- function(what, got, expected, tolerance) {
    off <- max(abs(got - expected))
    if (!is.finite(off) || off > tolerance) stop(sprintf("%s: off by %g", what, off))
}
share <- function(eta) { # one row, classes after the reference
    e <- exp(c(0, eta))
    e / sum(e)
}

# the likelihood's mode by optim, and by nnet, a recommended package of R
design <- cbind(1, table$x, table$z)
deviance <- function(w) {
    p <- apply(design %*% matrix(w, 3), 1, share)
    -sum(log(p[cbind(table$code + 1, seq_len(nrow(table)))]))
}
wide <- read.csv("wide.csv")$value
check("mode", wide, optim(rep(0, 6), deviance, method = "BFGS", control = list(reltol = 1e-15, maxit = 1000))$par, 1e-3)
if (requireNamespace("nnet", quietly = TRUE)) {
    fit <- nnet::multinom(factor(kind) ~ x + z, table, trace = FALSE, reltol = 1e-16, maxit = 1000)
    check("mode of nnet", wide, as.vector(t(coef(fit))), 1e-3)
}

# two weights: a grid of midpoints
rows <- table[1:40, ]
at <- seq(-6, 6, length.out = 401)
log_density <- outer(at, at, Vectorize(function(a, b) {
    p <- apply(cbind(a * rows$x, b * rows$x), 1, share)
    sum(log(p[cbind(rows$code + 1, 1:40)])) + dnorm(a, 0, 1.5, log = TRUE) + dnorm(b, 0, 1.5, log = TRUE)
}))
weight <- exp(log_density - max(log_density))
weight <- weight / sum(weight)
summary <- read.csv("short-summary.csv")
for (k in 1:2) {
    marginal <- if (k == 1) rowSums(weight) else colSums(weight)
    mean <- sum(marginal * at)
    sd <- sqrt(sum(marginal * (at - mean)^2))
    check("mean by quadrature", summary$mean[k], mean, 0.08 * sd)
    check("sd by quadrature", summary$sd[k], sd, 0.08 * sd)
}

draws <- as.matrix(read.csv("run.csv", check.names = FALSE)[, -(1:2)])
stopifnot(colnames(draws)[1:2] == c("bee:(Intercept)", "bee:x"))
x <- cbind(1, table$x, table$z)
p <- array(0, c(nrow(draws), nrow(x), 3))
e1 <- exp(draws[, 1:3] %*% t(x))
e2 <- exp(draws[, 4:6] %*% t(x))
p[, , 1] <- 1 / (1 + e1 + e2)
p[, , 2] <- e1 * p[, , 1]
p[, , 3] <- e2 * p[, , 1]
predicted <- read.csv("mean.csv")
check("mean probabilities", predicted$mean, as.vector(t(apply(p, c(2, 3), mean))), 1e-8)
cat("as by hand\n")
