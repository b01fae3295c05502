# Checks by R from the draws that a run has written, for three of R's own tables: statistics, cells, residuals, PIT with loo's
# weights, power scaling as Kallioinen et al. (2024) have it. In an empty folder.
program <- commandArgs(TRUE)[1]
failures <- 0
same <- function(what, have, want, limit = 1e-6) {
    off <- max(abs(have - want) / pmax(1, abs(want)))
    cat(sprintf("%-34s %s\n", what, format(off, digits = 2)))
    if (length(have) != length(want) || !isTRUE(off <= limit)) {
        failures <<- failures + 1
        print(head(cbind(have, want)))
    }
}

# ---- JSON, as far as it is needed: one object or array a line ----
run_program <- function(...) system2(program, c(...), stdout = TRUE, stderr = FALSE)
field <- function(line, key) as.numeric(sub(paste0('.*"', key, '": (-?[0-9.e+-]+|null).*'), "\\1", sub("null", "NaN", line)))
section <- function(text, key) { # lines of a member that is an array
    begin <- grep(paste0('^ "', key, '": '), text)
    end <- c(grep('^ "', text), length(text) + 1)
    text[begin:(min(end[end > begin]) - 1)]
}
cells <- function(text, key) grep('"label"', section(text, key), value = TRUE)

draw_matrix <- function(...) {
    m <- read.csv(text = run_program("predict", ..., "--draws", "--max-draws", "0"), check.names = FALSE)
    as.matrix(m[, grep("^draw", names(m))])
}
quantiles <- function(x) quantile(x, c(0.025, 0.975), names = FALSE)

# ---- power scaling ----
distance <- function(x, w) {
    one <- function(x) {
        o <- order(x)
        gap <- diff(x[o])
        n <- length(x)
        p <- (seq_len(n) / n)[-n]
        q <- cumsum(w[o] / sum(w))[-n]
        m <- (p + q) / 2
        sum(gap * (p * log2(p / m) + q * log2(q / m))) / sum(gap * (p + q))
    }
    sqrt(max(one(x), one(-x)))
}
smooth <- function(ratio) {
    w <- suppressWarnings(loo::psis(ratio, r_eff = 1))
    as.vector(weights(w, log = FALSE, normalize = TRUE))
}
sensitivity <- function(draws, log_density) {
    up <- smooth(0.01 * log_density)
    down <- smooth(-0.01 * log_density)
    apply(draws, 2, function(x) (distance(x, up) / log2(1.01) - distance(x, down) / log2(0.99)) / 2)
}

# ---- a table ----
check_table <- function(name, formula, family, table, log_prior, log_lik, numbers) {
    cat("\n", name, "\n", sep = "")
    write.csv(table, paste0(name, ".csv"), row.names = FALSE, quote = FALSE)
    for (ending in c(".nc", ".draws.csv"))
        run_program("sample", paste0(name, ".csv"), shQuote(formula), "--family", family, "--seed", "5", "--ess", "300", "--draws", "250",
             "--progress", "off", "-o", paste0(name, ending))
    run <- paste0(name, ".nc")
    data <- paste0(name, ".csv")
    text <- run_program("check", run, data, "--json", "--max-draws", "0", "--rows", "0")
    draws <- as.matrix(read.csv(paste0(name, ".draws.csv"), check.names = FALSE)[, -(1:2)])
    target <- sub(" ~.*", "", formula)
    y <- table[[target]]
    mu <- rowMeans(draw_matrix(run, data, "--kind", "mean"))
    made <- draw_matrix(run, data, "--kind", "outcome") # seeds are 1, here and there

    # replicated tables: a thousand draws, evenly spaced
    all_made <- made
    if (ncol(made) > 1000) made <- made[, floor((0:999) * (ncol(made) / 1000)) + 1]

    # statistics
    r <- function(v) (v - mu) / apply(all_made, 1, sd)
    by_name <- list(mean = mean, sd = sd, min = min, max = max, zeros = function(v) mean(v == 0), dispersion = function(v) mean(r(v)^2),
                    skewness = function(v) mean(r(v)^3) / mean(r(v)^2)^1.5, kurtosis = function(v) mean(r(v)^4) / mean(r(v)^2)^2)
    for (line in grep('"name"', section(text, "statistics"), value = TRUE)) {
        of <- sub('.*"name": "([a-z]+)".*', "\\1", line)
        t <- apply(made, 2, by_name[[of]])
        seen <- by_name[[of]](y)
        share <- (sum(t > seen) + sum(t == seen) / 2 + 0.5) / (length(t) + 1)
        same(paste("statistic", of), sapply(c("observed", "mean", "sd", "low", "high", "p"), function(k) field(line, k)),
             c(seen, mean(t), sd(t), quantiles(t), 2 * min(share, 1 - share)))
    }

    # PIT without the row: below and up to y
    if (family != "bernoulli") {
        l <- log_lik(draws, table)
        pit <- sapply(seq_along(y), function(i) {
            w <- smooth(-l[i, ])
            c(sum(w[all_made[i, ] < y[i]]), sum(w[all_made[i, ] <= y[i]]))
        })
    }

    # residuals along each number: cells of a tenth, equal values together
    spread <- if (family == "poisson") sqrt(max(1, mean(r(y)^2))) else 1
    lines <- section(text, "residuals")
    starts <- grep('"of"', lines)
    for (at in starts) {
        column <- sub('.*"of": "([A-Za-z_.]+)".*', "\\1", lines[at])
        if (!is.numeric(table[[column]])) next
        x <- table[[column]]
        o <- order(x)
        due <- floor((seq_along(x) - 1) * 10 / length(x))
        first <- match(x[o], x[o])
        begins <- first == seq_along(x)
        cell <- integer(length(x))
        share <- -1
        now <- 0
        for (i in seq_along(x)) {
            if (begins[i] && (length(unique(x)) <= 10 || due[i] > share)) { now <- now + 1; share <- due[i] }
            cell[o[i]] <- now
        }
        until <- c(starts[starts > at], length(lines) + 1)[1] - 1
        own <- grep('"label"', lines[at:until], value = TRUE)
        same(paste("residuals along", column), sapply(own, field, "observed", USE.NAMES = FALSE), as.vector(tapply(y - mu, cell, mean)))
        edge <- 0.5 / ncol(all_made)
        score <- if (family == "gaussian") qnorm(pmin(pmax(colMeans(pit), edge), 1 - edge)) else y - mu
        off <- tapply(score, cell, sum)
        variance <- tapply(if (family == "gaussian") rep(1, length(y)) else apply(all_made, 1, var), cell, sum)
        cube <- tapply(apply(all_made, 1, function(v) mean((v - mean(v))^3)), cell, sum)
        z <- off / sqrt(variance) / spread
        if (family != "gaussian") {
            g <- cube / variance^1.5
            a <- 2 / abs(g)
            z <- sign(g) * 3 * a * (pmax(1 + sign(g) * z / a, 0)^(1 / 3) - 1 + 1 / (9 * a^2))
        }
        same(paste("z along", column), sapply(own, field, "z", USE.NAMES = FALSE), as.vector(z))
        if (length(off) >= 4) {
            k <- seq_along(off) - 1
            u <- residuals(lm(I(k^2) ~ k, weights = variance))
            same(paste("curve along", column), field(lines[at], "bend"), sum(u * off) / sqrt(sum(u^2 * variance)) / spread)
        }
    }
    numbers(text, y, mu, made)

    if (family != "bernoulli") {
        bars <- rowSums(apply(pit, 2, function(p) {
            if (p[2] - p[1] < 1e-12) return(tabulate(min(floor(p[1] * 20), 19) + 1, 20))
            pmax(0, pmin(p[2], 1:20 / 20) - pmax(p[1], 0:19 / 20)) / (p[2] - p[1])
        })) * 20 / length(y)
        line <- section(text, "pit")
        same("PIT, bars", as.numeric(strsplit(sub(".*\\[(.*)\\].*", "\\1", line), ", ")[[1]]), bars)
        if (family == "gaussian") {
            test <- suppressWarnings(ks.test(pit[2, ], "punif", exact = FALSE))
            same("PIT, Kolmogorov-Smirnov", field(line, "ks"), test$statistic)
            same("PIT, p (asymptotic: within 0.1)", field(line, "p"), test$p.value, 0.1)
        }
    }

    # power scaling
    lines <- grep('"parameter"', section(text, "sensitivity"), value = TRUE)
    same("prior", sapply(lines, field, "prior", USE.NAMES = FALSE), sensitivity(draws, log_prior(draws, table)))
    same("likelihood", sapply(lines, field, "likelihood", USE.NAMES = FALSE), sensitivity(draws, colSums(log_lik(draws, table))))
}

calibration <- function(text, y, mu, made) {
    cell <- floor((rank(mu, ties.method = "min") - 1) * 10 / length(mu))
    cell <- match(cell, sort(unique(cell)))
    lines <- cells(text, "calibration")
    same("calibration, observed", sapply(lines, field, "observed", USE.NAMES = FALSE), as.vector(tapply(y, cell, mean)))
    same("calibration, expected", sapply(lines, field, "expected", USE.NAMES = FALSE), as.vector(tapply(mu, cell, mean)))
    of <- apply(made, 2, function(v) tapply(v, cell, mean))
    same("calibration, z", sapply(lines, field, "z", USE.NAMES = FALSE), as.vector((tapply(y, cell, mean) - tapply(mu, cell, mean)) / apply(of, 1, sd)))
    same("calibration, low", sapply(lines, field, "low", USE.NAMES = FALSE), apply(of, 1, quantiles)[1, ])
}
bars <- function(key) function(text, y, mu, made) {
    lines <- cells(text, key)
    from <- sapply(lines, field, "from", USE.NAMES = FALSE)
    from[1] <- -Inf
    to <- c(from[-1], Inf)
    count <- function(v) mapply(function(a, b) sum(v >= a - 1e-9 & v < b - 1e-9), from, to)
    of <- apply(made, 2, count)
    same(paste0(key, ", observed"), sapply(lines, field, "observed", USE.NAMES = FALSE), count(y))
    same(paste0(key, ", expected"), sapply(lines, field, "expected", USE.NAMES = FALSE), rowMeans(of))
    same(paste0(key, ", high"), sapply(lines, field, "high", USE.NAMES = FALSE), apply(of, 1, quantiles)[2, ])
}

# ---- default priors, by hand: docs/priors.md ----
population_sd <- function(x) sqrt(mean((x - mean(x))^2))
prior_of <- function(design, unit, centre) function(draws, table) {
    x <- design(table)
    at <- colMeans(x)
    l <- dnorm(as.vector(draws[, seq_len(ncol(x))] %*% at), centre(table), 10 * unit(table), log = TRUE)
    for (j in 2:ncol(x)) l <- l + dnorm(draws[, j], 0, 2.5 * unit(table) / population_sd(x[, j]), log = TRUE)
    if ("sigma" %in% colnames(draws)) l <- l + dexp(draws[, "sigma"], 1 / unit(table), log = TRUE)
    l
}
one <- function(table) 1
none <- function(table) 0
eta <- function(x, draws) x %*% t(draws[, seq_len(ncol(x))])

x <- function(table) model.matrix(~ wt + hp, table)
check_table("cars", "mpg ~ wt + hp", "gaussian", mtcars[, c("mpg", "wt", "hp")],
            prior_of(x, function(t) population_sd(t$mpg), function(t) mean(t$mpg)),
            function(d, t) { e <- eta(x(t), d); matrix(dnorm(t$mpg, e, rep(d[, "sigma"], each = nrow(e)), log = TRUE), nrow(e)) },
            bars("density"))
y <- function(table) model.matrix(~ age + parity + spontaneous, table)
check_table("births", "case ~ age + parity + spontaneous", "bernoulli", infert[, c("case", "age", "parity", "spontaneous")],
            prior_of(y, one, none),
            function(d, t) { e <- eta(y(t), d); matrix(dbinom(t$case, 1, plogis(e), log = TRUE), nrow(e)) },
            calibration)
z <- function(table) model.matrix(~ distance + wool, table)
breaks <- data.frame(breaks = warpbreaks$breaks, distance = rep(1:27, 2) / 10, wool = as.integer(warpbreaks$wool))
check_table("yarn", "breaks ~ distance + wool", "poisson", breaks,
            prior_of(z, one, none),
            function(d, t) { e <- eta(z(t), d); matrix(dpois(t$breaks, exp(e), log = TRUE), nrow(e)) },
            bars("rootogram"))
quit(status = failures > 0)
