# Predictions from the draws that a run has written, made by R: model.matrix, plogis, quantile. In the folder of predict.sh.
library(splines)
program <- commandArgs(TRUE)[1]
table <- read.csv("table.csv", stringsAsFactors = TRUE)
failures <- 0

draws <- function(run) as.matrix(read.csv(paste0(run, ".csv"), check.names = FALSE)[, -(1:2)])
ours <- function(run, kind) {
    text <- system2(program, c("predict", paste0(run, ".nc"), "table.csv", "--kind", kind, "--max-draws", "0"),
                    stdout = TRUE, stderr = FALSE)
    read.csv(text = text)
}
summaries <- function(value) # rows x draws
    cbind(mean = rowMeans(value), sd = apply(value, 1, sd), t(apply(value, 1, quantile, c(0.05, 0.5, 0.95))))
compare <- function(run, kind, value) {
    have <- as.matrix(ours(run, kind)[, c("mean", "sd", "q5", "q50", "q95")])
    want <- summaries(value)
    off <- max(abs(have - want) / pmax(1, abs(want)))
    cat(sprintf("%-9s %-7s off by %.1e\n", run, kind, off))
    if (!(dim(have)[1] == dim(want)[1] && off <= 1e-6)) failures <<- failures + 1
}
fixed <- function(run, x) x %*% t(draws(run)[, seq_len(ncol(x)), drop = FALSE])

x <- model.matrix(y ~ poly(x, 2) + bs(z, 5) * a, table)
compare("linear", "mean", fixed("linear", x))
x <- model.matrix(b ~ a * x + ns(z, 3) + I(a == "v" & x > 0.5), table)
compare("logistic", "linear", fixed("logistic", x))
compare("logistic", "mean", plogis(fixed("logistic", x)))
x <- model.matrix(c ~ log(z) + factor(t) + x, table)
compare("poisson", "mean", exp(fixed("poisson", x) + table$z / 10))
x <- model.matrix(s ~ x + cut(z, 3), table)
compare("binomial", "mean", plogis(fixed("binomial", x)))

x <- model.matrix(y ~ z + a + x, table)
x[, -1] <- scale(x[, -1]) * sqrt(nrow(x) / (nrow(x) - 1))
compare("scaled", "mean", fixed("scaled", x))

x <- model.matrix(k ~ x + a, table)
w <- draws("softmax")
e <- lapply(0:2, function(k) exp(x %*% t(w[, k * ncol(x) + seq_len(ncol(x))])))
share <- lapply(e, function(one) one / Reduce(`+`, e))
compare("softmax", "mean", do.call(rbind, lapply(seq_len(nrow(x)), function(i) rbind(share[[1]][i, ], share[[2]][i, ], share[[3]][i, ]))))

x <- model.matrix(o ~ x + a, table)[, -1]
w <- draws("ordinal")
eta <- x %*% t(w[, 1:3])
low <- plogis(sweep(-eta, 2, w[, 4], "+"))
high <- plogis(sweep(-eta, 2, w[, 5], "+"))
compare("ordinal", "mean", do.call(rbind, lapply(seq_len(nrow(x)), function(i) rbind(low[i, ], high[i, ] - low[i, ], 1 - high[i, ]))))

x <- model.matrix(y ~ x + a, table)
w <- draws("grouped")
effect <- function(of) w[, paste0("r_g[", table$g, ",", of, "]")]
compare("grouped", "mean", fixed("grouped", x) + t(effect("Intercept")) + table$x * t(effect("x")))

# outcomes are drawn: their means are those of the means, within Monte Carlo error
for (run in c("linear", "poisson", "grouped")) {
    mean <- ours(run, "mean")
    outcome <- ours(run, "outcome")
    z <- sum(outcome$mean - mean$mean) / sqrt(sum(outcome$sd^2 / nrow(draws(run))))
    cat(sprintf("%-9s outcome z %.2f\n", run, z))
    if (abs(z) > 5 || any(outcome$sd < mean$sd)) failures <- failures + 1
}
quit(status = failures > 0)
