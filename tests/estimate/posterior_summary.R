# Summaries by R's package posterior of chains (draws in rows, a column per chain), named as in draw_summary.
posterior_summary <- function(x) {
    v <- as.vector(x)
    q <- quantile(v, c(0.05, 0.5, 0.95))
    suppressWarnings(vapply(list(
        mean = mean(v), sd = stats::sd(v), q5 = q[1], q50 = q[2], q95 = q[3], rhat = rhat(x),
        ess_bulk = ess_bulk(x), ess_tail = ess_tail(x), ess_mean = ess_mean(x),
        mcse_mean = mcse_mean(x)
    ), as.numeric, 0))
}
