# Leave-one-group-out. First the densities of whole groups, their effects integrated out: `elpd + p` of each group is
# the log of the mean over draws of that density, which R computes from the same draws by a multivariate normal
# distribution or by integrate(). Then elpd itself against 18 refits, each without one of the 18 groups.
sbps <- normalizePath(Sys.getenv("SBPS_PROGRAM", "build/sbps"))
setwd(tempfile("logo") |> (\(path) { dir.create(path); path })())
z_max <- 4
failures <- 0
cases <- 0
check <- function(name, good, ...) {
    cases <<- cases + 1
    if (isTRUE(good)) return(invisible())
    failures <<- failures + 1
    cat("FAILED ", name, ": ", sprintf(...), "\n", sep = "")
}
log_mean_exp <- function(x) max(x) + log(mean(exp(x - max(x))))
run <- function(...) {
    out <- system2(sbps, shQuote(c(...)), stdout = TRUE, stderr = TRUE)
    if (!is.null(attr(out, "status"))) stop(paste(c(paste(...), out), collapse = "\n"))
    out
}
fit <- function(name, data, ...) {
    run("sample", data, ..., "--progress", "off", "--seed", "5", "-o", paste0(name, ".nc"))
    run("sample", data, ..., "--progress", "off", "--seed", "5", "-o", paste0(name, ".csv"))
    read.csv(paste0(name, ".csv"), check.names = FALSE)
}
# the lines of "by_group" of the JSON
by_group <- function(name, data, group) {
    lines <- grep('^ *\\{"level"', run("loo", paste0(name, ".nc"), data, "--group", group, "--max-draws", "0", "--json"), value = TRUE)
    number <- function(key) as.numeric(sub(",?[}].*|,.*", "", sub(paste0('.*"', key, '": '), "", lines)))
    data.frame(level = sub('.*"level": "([^"]*)".*', "\\1", lines), rows = number("rows"), elpd = number("elpd"), p = number("p"), k = number("khat"))
}
coefficient <- function(w, names) w[[intersect(names, names(w))[1]]]
intercept <- function(w) coefficient(w, c("(Intercept)", "intercept"))
sd_of <- function(w, factor, effect) coefficient(w, paste0("sd_", factor, "__", c(effect, if (effect == "(Intercept)") c("Intercept", "intercept"))))

# ---- the densities ----

set.seed(3)
n <- 96
d <- data.frame(g = sprintf("g%d", rep(1:8, each = 12)), h = sprintf("h%d", rep(1:6, 16)), x = rnorm(n), w = sample(1:3, n, TRUE))
d$s <- paste0(d$g, "s", rep(1:3, each = 4))  # nested in g
u <- rnorm(8)[as.integer(factor(d$g))] + 0.7 * rnorm(24)[as.integer(factor(d$s))]
d$y <- 1 + 0.5 * d$x + u + rnorm(n)
d$b <- rbinom(n, 1, plogis(0.3 + d$x + u))
d$k <- rpois(n, exp(0.2 + 0.3 * d$x + 0.5 * u))
write.csv(d, "d.csv", row.names = FALSE, quote = FALSE)
short <- c("--ess", "20", "--draws", "10", "--chains", "2")

mvn <- function(y, mean, v) {
    r <- chol(v)
    -0.5 * sum(backsolve(r, y - mean, transpose = TRUE)^2) - sum(log(diag(r))) - length(y) / 2 * log(2 * pi)
}
compare <- function(name, of, exact, tolerance) {
    for (g in of$level) {
        l <- exact(g)
        got <- of$elpd[of$level == g] + of$p[of$level == g]
        check(paste(name, g), abs(got - log_mean_exp(l)) < tolerance, "%.10g, expected %.10g", got, log_mean_exp(l))
    }
}
# two correlated effects of a linear model: exact
w <- fit("slopes", "d.csv", "y ~ x + (1 + x | g)", "--family", "gaussian", short)
of <- by_group("slopes", "d.csv", "g")
check("levels", identical(of$level, unique(d$g)) && all(of$rows == 12), "%s", paste(of$level, collapse = " "))
sds <- list(sd_of(w, "g", "(Intercept)"), w$sd_g__x)
cor <- w[[grep("^cor_g__", names(w))]]
compare("two effects", of, function(g) {
    own <- d[d$g == g, ]
    sapply(seq_len(nrow(w)), function(s) {
        S <- matrix(c(sds[[1]][s]^2, rep(cor[s] * sds[[1]][s] * sds[[2]][s], 2), sds[[2]][s]^2), 2)
        Z <- cbind(1, own$x)
        mvn(own$y, intercept(w)[s] + w$x[s] * own$x, Z %*% S %*% t(Z) + w$sigma[s]^2 * diag(nrow(own)))
    })
}, 1e-7)
# one effect of a logistic and of a Poisson regression with weights: integrate()
integral <- function(f) {
    at <- optimize(f, c(-8, 8), maximum = TRUE)
    at$objective + log(integrate(Vectorize(function(v) exp(f(v) - at$objective)), -Inf, Inf, rel.tol = 1e-9)$value)
}
w <- fit("logistic", "d.csv", "b ~ x + (1 | g)", "--family", "bernoulli", short)
compare("logistic", by_group("logistic", "d.csv", "g")[c(1, 6, 8), ], function(g) {
    own <- d[d$g == g, ]
    sapply(seq_len(nrow(w)), function(s) integral(function(v) {
        eta <- intercept(w)[s] + w$x[s] * own$x + sd_of(w, "g", "(Intercept)")[s] * v
        sum(dbinom(own$b, 1, plogis(eta), log = TRUE)) + dnorm(v, log = TRUE)
    }))
}, 1e-5)
# crossed factors: the other factor's effects are those of the draw
w <- fit("crossed", "d.csv", "k ~ x + (1 | g) + (1 | h)", "--family", "poisson", "--weights", "w", "--ranef", "all", short)
h <- sapply(sprintf("h%d", 1:6), function(l) coefficient(w, sprintf("r_h[%s,%s]", l, c("(Intercept)", "Intercept", "intercept"))))
compare("crossed, weights", by_group("crossed", "d.csv", "g")[c(2, 7), ], function(g) {
    own <- d[d$g == g, ]
    sapply(seq_len(nrow(w)), function(s) integral(function(v) {
        eta <- intercept(w)[s] + w$x[s] * own$x + h[s, own$h] + sd_of(w, "g", "(Intercept)")[s] * v
        sum(own$w * dpois(own$k, exp(eta), log = TRUE)) + dnorm(v, log = TRUE)
    }))
}, 1e-5)
# nested factors: all effects within the group are integrated out; 1 + 3 of them, by Monte Carlo unless linear
w <- fit("nested", "d.csv", "y ~ x + (1 | g) + (1 | s)", "--family", "gaussian", "--ranef", "all", short)
compare("nested, linear", by_group("nested", "d.csv", "g"), function(g) {
    own <- d[d$g == g, ]
    sapply(seq_len(nrow(w)), function(s)
        mvn(own$y, intercept(w)[s] + w$x[s] * own$x,
            sd_of(w, "g", "(Intercept)")[s]^2 + sd_of(w, "s", "(Intercept)")[s]^2 * outer(own$s, own$s, "==") + w$sigma[s]^2 * diag(nrow(own))))
}, 1e-7)
w <- fit("inner", "d.csv", "b ~ x + (1 | g) + (1 | s)", "--family", "bernoulli", "--ranef", "all", short)
node <- qnorm((1:200 - 0.5) / 200)  # of the inner integrals
compare("nested, logistic", by_group("inner", "d.csv", "g")[1, ], function(g) {
    own <- d[d$g == g, ]
    sapply(seq_len(nrow(w)), function(s) integral(function(v) {
        eta <- intercept(w)[s] + w$x[s] * own$x + sd_of(w, "g", "(Intercept)")[s] * v
        inner <- sapply(split(seq_len(nrow(own)), own$s), function(i) {
            e <- outer(eta[i], sd_of(w, "s", "(Intercept)")[s] * node, "+")
            log(mean(exp(colSums(dbinom(own$b[i], 1, plogis(e), log = TRUE)))))
        })
        sum(inner) + dnorm(v, log = TRUE)
    }))
}, 0.02)

# ---- brute force ----

set.seed(8)
n <- 90
d <- data.frame(g = sprintf("s%d", rep(1:18, each = 5)), x = rep(-2:2, 18))
d$y <- 10 + 2 * d$x + 3 * rnorm(18)[as.integer(factor(d$g, unique(d$g)))] + rnorm(18)[as.integer(factor(d$g, unique(d$g)))] * d$x + 2 * rnorm(n)
write.csv(d, "table.csv", row.names = FALSE, quote = FALSE)
model <- c("y ~ x + (1 + x | g)", "--family", "gaussian", "--prior", "normal(0,5)", "--prior-intercept", "normal(10,10)", "--prior-sigma",
           "exponential(0.5)", "--prior-sd", "student_t(3,0,3)", "--prior-cor", "lkj(2)", "--ess", "800", "--draws", "250")
density <- function(w, own) {
    a <- sd_of(w, "g", "(Intercept)")
    b <- w$sd_g__x
    r <- w[[grep("^cor_g__", names(w))]]
    Z <- cbind(1, own$x)
    sapply(seq_len(nrow(w)), function(s)
        mvn(own$y, intercept(w)[s] + w$x[s] * own$x, Z %*% matrix(c(a[s]^2, r[s] * a[s] * b[s], r[s] * a[s] * b[s], b[s]^2), 2) %*% t(Z) + w$sigma[s]^2 * diag(nrow(own))))
}
w <- fit("whole", "table.csv", model)
of <- by_group("whole", "table.csv", "g")
z <- NULL
total <- c(0, 0)
for (g in of$level) {
    own <- d[d$g == g, ]
    write.csv(d[d$g != g, ], "rest.csv", row.names = FALSE, quote = FALSE)
    unlink(c("rest.nc", "rest.out.csv"))
    run("sample", "rest.csv", model, "--progress", "off", "--seed", "6", "-o", "rest.out.csv")
    l <- density(read.csv("rest.out.csv", check.names = FALSE), own)
    refit <- log_mean_exp(l)
    # errors by the delta method; at least 800 effective draws of each
    ess <- 800
    error_refit <- sd(exp(l - refit)) / sqrt(ess)
    ratio <- exp(-density(w, own) + of$elpd[of$level == g])  # p(y_g | the others) / p(y_g | draw): mean 1
    error <- sqrt(error_refit^2 + var(ratio) / ess)
    one <- (of$elpd[of$level == g] - refit) / error
    if (of$k[of$level == g] > 0.7) next  # not claimed to be reliable
    z <- c(z, one)
    total <- total + c(of$elpd[of$level == g] - refit, error^2)
    check(paste("refit without", g), abs(one) < z_max, "elpd %.4f, by a refit %.4f +- %.4f, z %.1f", of$elpd[of$level == g], refit, error, one)
}
check("reliable groups", length(z) >= 14, "only %d", length(z))
check("sum of all", abs(total[1]) < z_max * sqrt(total[2]), "difference %.4f +- %.4f", total[1], sqrt(total[2]))
check("errors are of the stated size", mean(z^2) < 2.5 && max(sqrt(total[2])) < 0.3, "mean square z %.2f, error of the sum %.3f", mean(z^2), sqrt(total[2]))

cat(sprintf("%d cases, %d failures; refits: mean square z %.2f, sum differs by %.4f +- %.4f\n", cases, failures, mean(z^2), total[1], sqrt(total[2])))
quit(status = failures > 0)
