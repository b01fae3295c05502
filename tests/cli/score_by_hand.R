# Scores and leave-one-out from the draws that a run has written, by R and its package loo. In the folder of score.sh.
program <- commandArgs(TRUE)[1]
table <- read.csv("table.csv", stringsAsFactors = TRUE)
failures <- 0

draws <- function(run) as.matrix(read.csv(paste0(run, ".csv"), check.names = FALSE)[, -(1:2)])
ours <- function(...) { # a flat object of numbers
    text <- paste(system2(program, c(..., "--json", "--max-draws", "0"), stdout = TRUE, stderr = FALSE), collapse = " ")
    found <- regmatches(text, gregexpr('"[a-z0-9_]+": [-0-9.e+]+', text))[[1]]
    setNames(as.numeric(sub(".*: ", "", found)), sub('"([a-z0-9_]+)".*', "\\1", found))
}
same <- function(what, have, want) {
    off <- abs(have - want) / max(1, abs(want))
    cat(sprintf("%-28s %.10g, R %.10g\n", what, have, want))
    if (!isTRUE(off <= 1e-6)) failures <<- failures + 1
}
eta <- function(run, x) x %*% t(draws(run)[, seq_len(ncol(x)), drop = FALSE])
lme <- function(x) max(x) + log(mean(exp(x - max(x))))
spread <- function(x) sqrt(length(x) * var(x))

# ---- log densities, rows x draws ----
normal <- function(run, e) dnorm(table$y, e, rep(draws(run)[, "sigma"], each = nrow(e)), log = TRUE)
matrices <- list()
e <- eta("linear", model.matrix(y ~ poly(x, 2) + a, table))
matrices$linear <- matrix(normal("linear", e), nrow(e))
mean_linear <- rowMeans(e)
e <- eta("short", model.matrix(y ~ x, table))
matrices$short <- matrix(normal("short", e), nrow(e))
e <- eta("logistic", model.matrix(b ~ a * x + z, table))
matrices$logistic <- dbinom(table$b, 1, plogis(e), log = TRUE)
dim(matrices$logistic) <- dim(e)
p <- rowMeans(plogis(e))
e <- eta("poisson", model.matrix(c ~ z + x, table))
matrices$poisson <- matrix(dpois(table$c, exp(e), log = TRUE), nrow(e))
e <- eta("binomial", model.matrix(s ~ x, table))
matrices$binomial <- matrix(dbinom(table$s, table$t, plogis(e), log = TRUE), nrow(e))
x <- model.matrix(k ~ x + a, table)
w <- draws("softmax")
e <- lapply(0:2, function(k) x %*% t(w[, k * ncol(x) + seq_len(ncol(x))]))
own <- Reduce(`+`, lapply(1:3, function(k) (as.integer(table$k) == k) * e[[k]]))
matrices$softmax <- own - log(Reduce(`+`, lapply(e, exp)))
w <- draws("grouped")
e <- eta("grouped", model.matrix(y ~ x, table)) + t(w[, paste0("r_g[", table$g, ",Intercept]")])
matrices$grouped <- matrix(normal("grouped", e), nrow(e))

# ---- held-out densities ----
densities <- function(run) {
    text <- system2(program, c("predict", paste0(run, ".nc"), "table.csv", "--kind", "density", "--draws", "--max-draws", "0"), stdout = TRUE, stderr = FALSE)
    unname(as.matrix(read.csv(text = text)[, -1]))
}
for (run in names(matrices)) {
    same(paste(run, "density"), max(abs(densities(run) - matrices[[run]])), 0)
    lpd <- apply(matrices[[run]], 1, lme)
    have <- ours("score", paste0(run, ".nc"), "table.csv")
    same(paste(run, "elpd"), have["elpd"], sum(lpd))
    same(paste(run, "se_elpd"), have["se_elpd"], spread(lpd))
    same(paste(run, "mean_deviance"), have["mean_deviance"], -2 * sum(rowMeans(matrices[[run]])))
}

# ---- of numbers, and of two outcomes ----
have <- ours("score", "linear.nc", "table.csv")
loss <- (table$y - mean_linear)^2
same("rmse", have["rmse"], sqrt(mean(loss)))
same("r2", have["r2"], 1 - sum(loss) / sum((table$y - mean(table$y))^2))
have <- ours("score", "logistic.nc", "table.csv")
same("brier", have["brier"], mean((table$b - p)^2))
same("se_brier", have["se_brier"], sd((table$b - p)^2) / sqrt(length(p)))
up <- p[table$b == 1]
down <- p[table$b == 0]
wins <- outer(up, down, function(a, b) (a > b) + 0.5 * (a == b))
same("auc", have["auc"], mean(wins))
same("se_auc", have["se_auc"], sqrt(var(rowMeans(wins)) / length(up) + var(colMeans(wins)) / length(down)))
fit <- summary(glm(table$b ~ qlogis(p), family = binomial, control = list(epsilon = 1e-14)))$coefficients
same("calibration_slope", have["calibration_slope"], fit[2, 1])
same("se_calibration_slope", have["se_calibration_slope"], fit[2, 2])

# CRPS: of a normal given its draws, by simulation of our own
have <- ours("score", "linear.nc", "table.csv")
w <- draws("linear")
set.seed(1)
e <- eta("linear", model.matrix(y ~ poly(x, 2) + a, table))
many <- sapply(1:20, function(k) {
    y <- e + rnorm(length(e)) * rep(w[, "sigma"], each = nrow(e))
    mean(sapply(seq_len(nrow(y)), function(i) {
        s <- sort(y[i, ]); n <- length(s)
        mean(abs(s - table$y[i])) - sum((2 * seq_len(n) - n - 1) * s) / n^2
    }))
})
cat(sprintf("crps %.6f, R %.6f +- %.6f\n", have["crps"], mean(many), sd(many)))
if (abs(have["crps"] - mean(many)) > 5 * sd(many)) failures <- failures + 1

# ---- loo ----
if (requireNamespace("loo", quietly = TRUE)) {
    results <- list()
    for (run in names(matrices)) {
        l <- t(matrices[[run]])
        r <- results[[run]] <- suppressWarnings(loo::loo(l, r_eff = rep(1, ncol(l))))
        have <- ours("loo", paste0(run, ".nc"), "table.csv", "--rows", "0")
        for (of in c("elpd_loo", "p_loo", "looic")) {
            same(paste(run, of), have[of], r$estimates[of, "Estimate"])
            same(paste(run, of, "se"), have[paste0("se_", of)], r$estimates[of, "SE"])
        }
        k <- r$diagnostics$pareto_k
        same(paste(run, "khat_above"), have["khat_above"], sum(k > 0.7))
        if (is.finite(max(k))) same(paste(run, "khat"), have["khat"], max(k))
    }
    r <- loo::loo_compare(results["linear"][[1]], results["short"][[1]])
    text <- paste(system2(program, c("compare", "linear.nc", "short.nc", "--data", "table.csv", "--json", "--max-draws", "0", "--rows", "0"), stdout = TRUE), collapse = " ")
    have <- regmatches(text, gregexpr('"(elpd_diff|se_diff)": [-0-9.e+]+', text))[[1]]
    have <- as.numeric(sub(".*: ", "", have))
    same("elpd_diff", have[3], r[2, "elpd_diff"])
    same("se_diff", have[4], r[2, "se_diff"])
} else cat("package loo is not there\n")
quit(status = failures > 0)
