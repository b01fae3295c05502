# The summaries by R's posterior of the expressions in contrast.sh, from the draws in a CSV file.
suppressPackageStartupMessages(library(posterior))
draws <- read.csv(commandArgs(TRUE)[1], check.names = FALSE)
of <- function(name) draws[[name]]
values <- list(
    of("a") - of("b"), exp(of("a")) / of("b"), as.numeric(of("a") > of("b")), plogis(of("`2nd`")),
    abs(of("a"))^1.5, of("groupx-y") * 2
)
summarise_values <- function(v) {
    x <- do.call(cbind, split(v, draws$chain))
    q <- quantile(v, c(0.05, 0.5, 0.95), names = FALSE)
    suppressWarnings(data.frame(
        mean = mean(v), mcse = mcse_mean(x), sd = sd(v), q5 = q[1], q50 = q[2], q95 = q[3],
        p_positive = mean(v > 0), p_positive_mcse = mcse_mean(1 * (x > 0)), ess_bulk = ess_bulk(x),
        ess_tail = ess_tail(x), rhat = rhat(x)
    ))
}
write.csv(format(do.call(rbind, lapply(values, summarise_values)), digits = 17), row.names = FALSE, quote = FALSE)
