# RStan's NUTS on one core, for bench/peers.py.
#
#   Rscript bench/nuts.R MODEL.stan DATA ROWS DIM METRIC CHAINS WARMUP DRAWS SEED INIT OUT
#
# DATA holds ROWS x DIM doubles by column and then ROWS doubles of 0 and 1. METRIC is diag_e or dense_e; INIT
# `random` or a file with DIM doubles where every chain starts. OUT.draws gets the draws as doubles,
# coordinate by coordinate, chain by chain, and OUT.times a line a chain: seconds of warm-up and of
# sampling, leapfrog steps a draw, divergences. The compiled model is kept beside MODEL.stan.
# Debian keeps Boost in /usr/include, not in the package BH.
suppressMessages(library(rstan))
arg <- commandArgs(trailingOnly = TRUE)
model <- stan_model(arg[1], boost_lib = "/usr/include", auto_write = TRUE)
if (length(arg) == 1) quit(status = 0) # only to compile
n <- as.integer(arg[3])
d <- as.integer(arg[4])
chains <- as.integer(arg[6])
warmup <- as.integer(arg[7])
file <- file(arg[2], "rb")
x <- matrix(readBin(file, "double", n * d), n, d)
y <- as.integer(readBin(file, "double", n))
close(file)
init <- "random"
if (arg[10] != "random") {
    w <- readBin(arg[10], "double", d)
    init <- rep(list(list(w = w)), chains)
}
fit <- sampling(model, data = list(n = n, d = d, x = x, y = y), chains = chains, cores = 1, warmup = warmup,
                iter = warmup + as.integer(arg[8]), seed = as.integer(arg[9]), init = init, refresh = 0,
                control = list(metric = arg[5]))
draws <- as.array(fit, pars = "w") # draw, chain, coordinate
writeBin(as.vector(draws), paste0(arg[11], ".draws"))
steps <- get_sampler_params(fit, inc_warmup = FALSE)
times <- cbind(get_elapsed_time(fit), sapply(steps, function(s) mean(s[, "n_leapfrog__"])),
               sapply(steps, function(s) sum(s[, "divergent__"])))
write.table(times, paste0(arg[11], ".times"), row.names = FALSE, col.names = FALSE)
