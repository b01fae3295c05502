# An independent referee for real tables: RStan's NUTS on the same posterior.
#
#   Rscript bench/referee.R DATA.csv RUN.nc.summary.csv [iterations]
#
# DATA.csv has target y (0/1) and numeric features; the second file is `sbps summary --csv` of a
# default run on it. Priors are the program's defaults: coefficients normal(0, 2.5/sd(x)),
# intercept normal(0, 10). Prints each mean's difference in sd with its z, and each sd's ratio.
suppressMessages({library(rstan); library(posterior)})
args <- commandArgs(trailingOnly = TRUE)
data <- read.csv(args[1])
mine <- read.csv(args[2])
iterations <- if (length(args) > 2) as.integer(args[3]) else 4000L
features <- setdiff(names(data), "y")
x <- as.matrix(data[features])
sd_population <- apply(x, 2, function(v) sqrt(mean((v - mean(v))^2)))
code <- "
data { int n; int d; matrix[n, d] x; int y[n]; vector[d] scale; vector[d] centre; }
parameters { real a; vector[d] z; }
model {
  vector[d] b = z ./ scale;
  target += normal_lpdf(a - dot_product(centre, b) | 0, 10);  // the intercept of the raw columns
  z ~ normal(0, 2.5);
  y ~ bernoulli_logit_glm(x, a, b);
}
generated quantities {
  vector[d] b = z ./ scale;
  real intercept = a - dot_product(centre, b);
}"
options(mc.cores = 2)
model <- stan_model(model_code = code, boost_lib = "/usr/include")
centre <- colMeans(x)
fit <- sampling(model, data = list(n = nrow(x), d = ncol(x), x = sweep(x, 2, centre), y = data$y,
                                   scale = sd_population, centre = centre),
                chains = 4, iter = iterations, warmup = 1000, seed = 1, refresh = 0,
                control = list(metric = "dense_e"))
draws <- as_draws_array(as.array(fit, pars = c("intercept", "b")))
s <- summarise_draws(draws, "mean", "sd", "mcse_mean", "mcse_sd", "rhat", "ess_bulk")
s$name <- c("intercept", features)
m <- mine[match(s$name, mine$name), ]
difference <- (m$mean - s$mean) / s$sd
z <- (m$mean - s$mean) / sqrt(m$mcse^2 + s$mcse_mean^2)
cat("| parameter | referee mean | sbps mean | difference in sd | z | sd ratio | stated bias |\n|---|---|---|---|---|---|---|\n")
cat(sprintf("| %s | %.5g | %.5g | %+.3f | %+.2f | %.3f | %+.3f |\n", s$name, s$mean, m$mean,
            difference, z, m$sd / s$sd, m$bias), sep = "")
cat(sprintf("\nworst |difference| %.3f sd, worst |z| %.2f, sd ratios %.3f to %.3f, R-hat of sbps <= %.4f, of the referee <= %.4f (ESS >= %.0f)\n",
            max(abs(difference)), max(abs(z)), min(m$sd / s$sd), max(m$sd / s$sd), max(m$rhat),
            max(s$rhat), min(s$ess_bulk)))
