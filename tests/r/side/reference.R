# Long runs of rstanarm, once: Rscript reference.R writes reference.csv, which compare.R compares with. Four chains of 10,000
# draws each. Standard deviations of groups are roots of rstanarm's variances; its default for one effect a group is an
# exponential(1) of the standard deviation, which compare.R gives to ours.
suppressMessages(library(rstanarm))
source("models.R")
our_name <- function(name) {
    name <- sub("^Sigma\\[(.+):\\(Intercept\\),\\(Intercept\\)\\]$", "sd_\\1__Intercept", name)
    sub("^reciprocal_dispersion$", "phi", name)
}
long_call <- function(call) {
    groups <- identical(call[[1]], quote(glmer))
    call[[1]] <- if (groups) quote(stan_glmer) else quote(stan_glm)
    call[c("iter", "warmup", "cores", "adapt_delta")] <- list(11000, 1000, 2, if (groups) 0.99 else 0.95)
    call
}
long_run <- function(name) {
    fit <- eval(long_call(models[[name]]))
    draws <- as.array(fit)
    draws <- draws[, , !grepl("^b\\[|^mean_PPD$|^log-posterior$", dimnames(draws)[[3]]), drop = FALSE]
    variance <- grepl("^Sigma\\[", dimnames(draws)[[3]])
    draws[, , variance] <- sqrt(draws[, , variance])
    figure <- function(f) apply(draws, 3, f)
    data.frame(model = name, parameter = our_name(dimnames(draws)[[3]]), mean = figure(mean), mean_mcse = figure(posterior::mcse_mean),
               sd = figure(sd), sd_mcse = figure(posterior::mcse_sd), rhat = figure(posterior::rhat))
}
out <- do.call(rbind, lapply(names(models), long_run))
stopifnot(out$rhat < 1.005)
out[3:7] <- lapply(out[3:7], signif, 6)
write.csv(out, "reference.csv", row.names = FALSE, quote = 2)
