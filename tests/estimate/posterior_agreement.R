# Draws random chains, computes diagnostics by diagnostics_print (its path is the argument) and by R's posterior,
# and fails if they differ by more than 1e-6. Without posterior it skips (exit 77).
#
#   Rscript tests/estimate/posterior_agreement.R PATH/diagnostics_print
if (!requireNamespace("posterior", quietly = TRUE)) {
    cat("skipped: R's posterior is not installed\n")
    quit(status = 77)
}
suppressPackageStartupMessages(library(posterior))
source(file.path(dirname(sub("--file=", "", grep("--file=", commandArgs(), value = TRUE))), "posterior_summary.R"))
program <- commandArgs(trailingOnly = TRUE)[1]
set.seed(1)

walk <- function(n, a) as.vector(stats::filter(rnorm(n), a, method = "recursive"))
kinds <- list(
    normal = function(n, c) rnorm(n),
    correlated = function(n, c) walk(n, runif(1, 0, 0.98)),
    antithetic = function(n, c) walk(n, runif(1, -0.98, 0)),
    cauchy = function(n, c) rcauchy(n),
    shifted = function(n, c) rnorm(n, mean = c / 3),
    scaled = function(n, c) rnorm(n, sd = c),
    ties = function(n, c) rpois(n, 3),
    binary = function(n, c) rbinom(n, 1, 0.4),
    repeated = function(n, c) rep(rnorm(n), each = 3)[1:n],
    offset = function(n, c) 1e5 + rnorm(n),
    log_normal = function(n, c) exp(3 * rnorm(n))
)

chains <- list()
for (kind in names(kinds)) {
    for (repeat_ in 1:20) {
        n <- sample(c(4:20, 50, 101, 250, 999, 1000), 1)
        m <- sample(1:6, 1)
        x <- sapply(seq_len(m), function(c) kinds[[kind]](n, c))
        chains[[length(chains) + 1]] <- list(kind = kind, x = matrix(x, n, m))
    }
}

input <- tempfile()
writeLines(unlist(lapply(chains, function(case) {
    c(paste(ncol(case$x), nrow(case$x)), sprintf("%.17g", as.vector(case$x)))
})), input)
output <- system2(program, stdin = input, stdout = TRUE)
stopifnot(length(output) == length(chains) + 1)
columns <- strsplit(output[1], " ")[[1]] # a field that posterior does not compute has no name there
stopifnot(setequal(columns, names(posterior_summary(chains[[1]]$x))))

failures <- 0
worst <- 0
for (k in seq_along(chains)) {
    ours <- suppressWarnings(as.numeric(strsplit(output[k + 1], " ")[[1]]))
    theirs <- posterior_summary(chains[[k]]$x)[columns]
    differ <- ifelse(is.na(ours) | is.na(theirs), is.na(ours) != is.na(theirs),
                     abs(ours - theirs) / pmax(abs(theirs), 1e-3))
    differ[!is.na(ours) & !is.na(theirs) & ours == theirs] <- 0
    worst <- max(worst, differ)
    for (j in which(differ > 1e-6)) {
        cat(sprintf("%s, %d chains of %d: %s is %.10g, posterior says %.10g\n",
                    chains[[k]]$kind, ncol(chains[[k]]$x), nrow(chains[[k]]$x), columns[j],
                    ours[j], theirs[j]))
        failures <- failures + 1
    }
}
cat(sprintf("%d sets of chains, %d values differ, largest relative difference %.2g\n",
            length(chains), failures, worst))
quit(status = if (failures > 0) 1 else 0)
