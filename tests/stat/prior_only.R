# --prior-only against closed forms: Kolmogorov-Smirnov tests of 8000 draws from every kind of prior (alone,
# truncated, on scales, correlations, orderings and simplices) and of group effects given their covariance, and
# lag-1 autocorrelations. The seed is fixed; the limits are p = 1e-5 and z = 4.5 for some 50 cases.
sbps <- normalizePath(Sys.getenv("SBPS_PROGRAM", "build/sbps"))
setwd(tempfile("prior") |> (\(path) { dir.create(path); path })())
p_min <- 1e-5
z_max <- 4.5
failures <- 0
cases <- 0

set.seed(4)
n <- 120
d <- data.frame(x = rnorm(n, 50, 3), z = rnorm(n), g = sprintf("g%d", rep(1:6, n / 6)), h = sprintf("h%d", rep(1:4, each = n / 4)))
d$y <- 1 + 0.2 * (d$x - 50) + rnorm(n)
d$o <- findInterval(d$y, c(0, 1, 2))
d$k <- rpois(n, 1) * rbinom(n, 1, 0.7)
d$b <- as.integer(d$y > 1)
write.csv(d, "d.csv", row.names = FALSE, quote = FALSE)

draws_of <- function(...) {
    out <- system2(sbps, c("sample", "d.csv", shQuote(c(..., "--prior-only")), "--progress", "off", "--seed", "11", "--draws", "2000", "-o", "run.csv"),
                   stdout = TRUE, stderr = TRUE)
    if (!file.exists("run.csv")) stop(paste(out, collapse = "\n"))
    draws <- read.csv("run.csv", check.names = FALSE)
    unlink("run.csv")
    draws
}

# KS test of x against the distribution function, and of the independence of successive draws
follows <- function(name, x, cdf) {
    cases <<- cases + 1
    p <- suppressWarnings(ks.test(x, cdf)$p.value)
    u <- cdf(x)
    z <- cor(u[-1], u[-length(u)]) * sqrt(length(u) - 1)
    if (is.na(p) || p < p_min || is.na(z) || abs(z) > z_max) {
        failures <<- failures + 1
        cat(sprintf("FAILED %s: p %.2g, autocorrelation z %.1f, %d draws\n", name, p, z, length(x)))
    }
}
half_t <- function(df, scale) function(q) 2 * pt(q / scale, df) - 1
normal <- function(mean, sd) function(q) pnorm(q, mean, sd)
sdy <- sd(d$y) * sqrt((n - 1) / n)
population_sd <- function(x) sd(x) * sqrt((n - 1) / n)

# defaults of a linear regression, the intercept at the means of the columns
w <- draws_of("y ~ x + z", "--family", "gaussian")
if (nrow(w) != 8000) stop("8000 draws expected, not ", nrow(w))
intercept <- intersect(c("(Intercept)", "intercept"), names(w))
follows("intercept at the means", w[[intercept]] + mean(d$x) * w$x + mean(d$z) * w$z, normal(mean(d$y), 10 * sdy))
follows("x", w$x, normal(0, 2.5 * sdy / population_sd(d$x)))
follows("z", w$z, normal(0, 2.5 * sdy / population_sd(d$z)))
follows("sigma", w$sigma, function(q) pexp(q, 1 / sdy))
follows("x and sigma are independent", pnorm(w$x, 0, 2.5 * sdy / population_sd(d$x)) + pexp(w$sigma, 1 / sdy),
        function(q) ifelse(q < 1, q^2 / 2, 1 - (2 - q)^2 / 2))

# every kind of prior
w <- draws_of("y ~ x + z", "--family", "gaussian", "--prior", "x=student_t(3,1,2); z=cauchy(-1,0.5)", "--prior-intercept", "laplace(2,1.5)",
              "--prior-sigma", "gamma(0.7,3)")
follows("laplace", w[[intercept]], function(q) ifelse(q < 2, exp((q - 2) / 1.5) / 2, 1 - exp(-(q - 2) / 1.5) / 2))
follows("student_t", w$x, function(q) pt((q - 1) / 2, 3))
follows("cauchy", w$z, function(q) pcauchy(q, -1, 0.5))
follows("gamma", w$sigma, function(q) pgamma(q, 0.7, 3))
w <- draws_of("y ~ x", "--family", "gaussian", "--prior-sigma", "normal(-1,2)")
follows("truncated normal", w$sigma, function(q) (pnorm(q, -1, 2) - pnorm(0, -1, 2)) / pnorm(0, -1, 2, lower.tail = FALSE))
w <- draws_of("k ~ x", "--model", "zero_inflated_poisson")
follows("a probability", w$zi, punif)

# groups: sds, a correlation matrix by LKJ, effects given both, factors nested and crossed
w <- draws_of("y ~ x + (1 + x + z | g) + (1 | h)", "--family", "gaussian", "--ranef", "all", "--prior-sd", "student_t(4,0,1.5)", "--prior-cor", "lkj(2)")
effects <- sub("^sd_g__", "", grep("^sd_g__", names(w), value = TRUE))
for (e in effects) follows(paste("sd of", e), w[[paste0("sd_g__", e)]], half_t(4, 1.5))
follows("sd of h", w[[grep("^sd_h__", names(w))]], half_t(4, 1.5))
# the marginal of LKJ(eta) in 3 dimensions is beta(eta + 1/2, eta + 1/2) on (-1, 1)
cors <- grep("^cor_g__", names(w), value = TRUE)
if (length(cors) != 3) stop("3 correlations expected")
for (e in cors) follows(e, (1 + w[[e]]) / 2, function(q) pbeta(q, 2.5, 2.5))
# det R of LKJ is a product of independent betas (Lewandowski et al. 2009): here its mean and variance
r <- as.matrix(w[cors])
det <- 1 + 2 * r[, 1] * r[, 2] * r[, 3] - rowSums(r^2)
moment <- function(k) {  # partial correlations 1: beta(2.5, 2.5) twice, then beta(2, 2); det = product of 1 - p^2
    of <- function(a) beta(a + k, a + k) / beta(a, a) * 4^k
    of(2.5)^2 * of(2)
}
cases <- cases + 1
z <- (mean(det) - moment(1)) / sqrt((moment(2) - moment(1)^2) / length(det))
if (abs(z) > z_max) { failures <- failures + 1; cat(sprintf("FAILED determinant of correlations: z %.1f\n", z)) }
cor_of <- function(a, b) if (a == b) rep(1, nrow(w)) else {
    both <- intersect(paste0("cor_g__", c(paste0(a, "__", b), paste0(b, "__", a))), names(w))
    w[[both]]
}
white <- function(level) {  # L^-1 u for the covariance of the draw, by forward substitution
    q <- length(effects)
    u <- sapply(effects, function(e) w[[sprintf("r_g[%s,%s]", level, e)]] / w[[paste0("sd_g__", e)]])
    v <- u
    L <- array(0, c(nrow(w), q, q))
    for (i in 1:q) for (j in 1:i) {
        s <- cor_of(effects[i], effects[j]) - if (j > 1) rowSums(L[, i, 1:(j - 1), drop = FALSE] * L[, j, 1:(j - 1), drop = FALSE]) else 0
        L[, i, j] <- if (i == j) sqrt(s) else s / L[, j, j]
    }
    for (i in 1:q) v[, i] <- (u[, i] - if (i > 1) rowSums(matrix(L[, i, 1:(i - 1)], nrow(w)) * v[, 1:(i - 1), drop = FALSE]) else 0) / L[, i, i]
    v
}
for (level in c("g1", "g6")) {
    v <- white(level)
    for (i in seq_along(effects)) follows(paste("effect", i, "of", level), v[, i], pnorm)
    follows(paste("all effects of", level), rowSums(v^2), function(q) pchisq(q, length(effects)))
}
u <- w[[grep("^r_h\\[h2", names(w))]] / w[[grep("^sd_h__", names(w))]]
follows("effect of h2", u, pnorm)
w <- draws_of("b ~ z + (1 + z | g)", "--family", "bernoulli")
follows("default sd of a slope", w$sd_g__z, half_t(3, 2.5 / population_sd(d$z)))

# ordered cutpoints: order statistics of three normals
w <- draws_of("o ~ x", "--model", "ordinal", "--prior-intercept", "normal(1,3)")
cuts <- grep("|", names(w), fixed = TRUE, value = TRUE)
if (length(cuts) != 3) stop("3 cutpoints expected")
for (k in 1:3) follows(cuts[k], w[[cuts[k]]], function(q) pbeta(pnorm(q, 1, 3), k, 4 - k))

# shrinkage: the horseshoe's scales and the weights given them; R2-D2's R2 and its simplex
w <- draws_of("y ~ x + z", "--family", "gaussian", "--standardize", "--prior", "horseshoe(1,0.3,2,1.5,5)", "--ranef", "all")
follows("hs_global", w$hs_global, half_t(2, 0.3))
follows("hs_slab", 1 / w$hs_slab^2, function(q) pgamma(q, 2.5, 2.5 * 1.5^2))
for (e in c("x", "z")) {
    local <- w[[sprintf("hs_local[%s]", e)]]
    follows(paste("local scale of", e), local, half_t(1, 1))
    follows(paste("weight of", e), w[[e]] * sqrt(1 / w$hs_slab^2 + 1 / (w$hs_global * w$sigma * local)^2), pnorm)
}
w <- draws_of("y ~ x + z + g", "--family", "gaussian", "--standardize", "--prior", "R2D2(0.3,5,0.6)", "--ranef", "all")
follows("R2", w$R2D2_R2, function(q) pbeta(q, 1.5, 3.5))
shares <- grep("^R2D2_share", names(w), value = TRUE)
for (e in shares) follows(e, w[[e]], function(q) pbeta(q, 0.6, 0.6 * (length(shares) - 1)))
cases <- cases + 1
if (max(abs(rowSums(w[shares]) - 1)) > 1e-9) { failures <- failures + 1; cat("FAILED the simplex: its sum is not 1\n") }
ratio <- w$R2D2_R2 / (1 - w$R2D2_R2)
for (e in c("x", "z")) follows(paste("R2-D2 weight of", e), w[[e]] / (w$sigma * sqrt(ratio * w[[sprintf("R2D2_share[%s]", e)]])), pnorm)

cat(sprintf("%d cases, %d failures\n", cases, failures))
quit(status = failures > 0)
