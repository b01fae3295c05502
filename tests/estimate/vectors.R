# Writes vectors.inc: diagnostics by R's posterior of chains that both this script and
# diagnostics.c make by the same exact arithmetic (integers below 2^53, then single IEEE
# operations), so that the draws need not be stored.
#
#   Rscript tests/estimate/vectors.R > tests/estimate/vectors.inc
suppressPackageStartupMessages(library(posterior))
source(file.path(dirname(sub("--file=", "", grep("--file=", commandArgs(), value = TRUE))), "posterior_summary.R"))

state <- 0
uniform <- function() {
    state <<- (1664525 * state + 1013904223) %% 4294967296
    (state + 0.5) / 4294967296
}
bell <- function() {
    s <- -6
    for (i in 1:12) s <- s + uniform()
    s
}
memory <- function(a) function(before, c, i) a * before + bell()

# A case: chains, draws, and the next value from the one before, the chain and the place (from 0).
cases <- list(
    independent = list(4, 1000, memory(0)),
    correlated = list(4, 1000, memory(0.9)),
    antithetic = list(4, 1000, memory(-0.7)),
    strongly_antithetic = list(4, 100, memory(-0.97)),
    heavy_tailed = list(4, 500, function(before, c, i) bell() / uniform()),
    shifted = list(4, 250, function(before, c, i) bell() + 0.5 * c),
    scaled = list(4, 400, function(before, c, i) bell() * (1 + c)),
    trending = list(4, 100, function(before, c, i) bell() + i / 50),
    stuck = list(4, 200, function(before, c, i) if (c == 2) 0.25 else bell()),
    discrete = list(4, 300, function(before, c, i) floor(5 * uniform())),
    rare = list(4, 200, function(before, c, i) if (uniform() < 0.02) 1 else 0),
    two_valued = list(4, 200, function(before, c, i) if (uniform() < 0.5) 1 else -1),
    odd = list(3, 501, memory(0.5)),
    many_chains = list(16, 33, memory(0.3)),
    one_chain = list(1, 1000, memory(0.8)),
    far_from_zero = list(4, 300, function(before, c, i) 1e4 + 0.01 * bell()),
    infinite = list(4, 100, function(before, c, i) if (c == 1 && i == 17) Inf else bell()),
    constant = list(4, 100, function(before, c, i) 3.5),
    one_draw = list(4, 1, memory(0)),
    two_draws = list(1, 2, memory(0)),
    four_draws = list(4, 4, memory(0)),
    five_draws = list(2, 5, memory(0)),
    six_draws = list(4, 6, memory(0)),
    ten_draws = list(2, 10, memory(0)),
    eleven_draws = list(2, 11, memory(0.5)),
    fourteen_draws = list(3, 14, memory(0.5))
)

make <- function(case) {
    x <- matrix(0, case[[2]], case[[1]])
    for (c in seq_len(case[[1]])) {
        before <- 0
        for (i in seq_len(case[[2]])) {
            before <- case[[3]](before, c - 1, i - 1)
            x[i, c] <- before
        }
    }
    x
}

number <- function(v) {
    v <- as.numeric(v)
    if (is.na(v)) "NAN" else if (is.infinite(v)) if (v > 0) "INFINITY" else "-INFINITY"
    else sprintf("%.17g", v)
}

cat("/* Made by vectors.R with R's posterior", format(packageVersion("posterior")), "*/\n")
for (k in seq_along(cases)) {
    state <- 1000 * k
    x <- make(cases[[k]])
    values <- posterior_summary(x)
    cat(sprintf("{\"%s\",\n {%s}},\n", names(cases)[k],
                paste(sprintf("{\"%s\", %s}", names(values), vapply(values, number, "")),
                      collapse = ",\n  ")))
}
