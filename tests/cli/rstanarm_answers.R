# Predictions, scores and leave-one-out on five tables that others use, by rstanarm and loo from our draws: the draws of
# a fit of rstanarm are replaced by ours. Runs in the folder of rstanarm.sh, which has made the runs.
#   rstanarm_answers.R tables SHARED     writes the tables there are, and a line for each: name, family, formula
#   rstanarm_answers.R compare PROGRAM   compares our results with R's, to 1e-6
arguments <- commandArgs(TRUE)
there <- function(name) requireNamespace(name, quietly = TRUE)
families <- list(bernoulli = binomial(), gaussian = gaussian(), poisson = poisson())

tables <- function(shared) {
    compare_fits <- function(name, data, family, formula) {
        write.csv(data[complete.cases(data), ], paste0(name, ".csv"), row.names = FALSE)
        cat(name, family, formula, sep = "|")
        cat("\n")
    }
    from <- function(name) file.path(shared, name)
    if (file.exists(from("german_credit_scaled.csv"))) {
        data <- read.csv(from("german_credit_scaled.csv"))
        compare_fits("credit", data[, 1:7], "bernoulli", "y ~ x1 + x2 + x3 * x4 + x5 + x6")
    }
    if (file.exists(from("concrete_regression.csv"))) {
        data <- read.csv(from("concrete_regression.csv"))
        compare_fits("concrete", data, "gaussian", paste("y ~", paste(names(data)[-1], collapse = " + ")))
    }
    if (there("carData")) compare_fits("salaries", carData::Salaries, "gaussian", "salary ~ rank * sex + discipline + yrs.service")
    if (there("carData")) {
        data <- carData::TitanicSurvival
        data$survived <- as.integer(data$survived == "yes")
        compare_fits("titanic", data, "bernoulli", "survived ~ sex * passengerClass + poly(age, 2)")
    }
    if (there("MASS")) compare_fits("quine", MASS::quine, "poisson", "Days ~ Eth * Sex + Age + Lrn")
}

draws_of <- function(name) as.matrix(read.csv(paste0(name, ".draws.csv"), check.names = FALSE)[, -(1:2)])

# A fit of rstanarm with our draws.
fit_of <- function(name, formula, family, data) {
    w <- draws_of(name)
    fit <- suppressWarnings(rstanarm::stan_glm(formula, family, data, algorithm = "optimizing", seed = 1, refresh = 0, draws = 20))
    known <- names(fit$coefficients)
    own <- fit$asymptotic_sampling_dist[rep(1, nrow(w)), , drop = FALSE]
    own[, known] <- w[, seq_along(known)]
    if ("sigma" %in% colnames(own)) own[, "sigma"] <- w[, "sigma"]
    fit$asymptotic_sampling_dist <- own
    fit
}

density_of <- function(family, y, mu, w) switch(family,
    bernoulli = dbinom(y, 1, mu, log = TRUE), poisson = dpois(y, mu, log = TRUE),
    gaussian = dnorm(y, mu, rep(w[, "sigma"], each = length(y)), log = TRUE))

json <- function(program, ...) {
    text <- paste(system2(program, c(..., "--json", "--max-draws", "0"), stdout = TRUE, stderr = FALSE), collapse = " ")
    found <- regmatches(text, gregexpr('"[a-z0-9_]+": [-0-9.e+]+', text))[[1]]
    setNames(as.numeric(sub(".*: ", "", found)), sub('"([a-z0-9_]+)".*', "\\1", found))
}

compare_one <- function(program, name, family, text) {
    data <- read.csv(paste0(name, ".csv"), stringsAsFactors = TRUE)
    formula <- as.formula(text)
    y <- model.response(model.frame(formula, data))
    fit <- fit_of(name, formula, families[[family]], data)
    run <- paste0(name, ".nc")
    csv <- paste0(name, ".csv")
    worst <- 0
    hold <- function(have, want) worst <<- max(worst, abs(have - want) / pmax(1, abs(want)))
    # predictions: rstanarm's, on new rows
    for (kind in c("mean", "linear")) {
        theirs <- if (kind == "mean") rstanarm::posterior_epred(fit, newdata = data) else rstanarm::posterior_linpred(fit, newdata = data)
        printed <- system2(program, c("predict", run, csv, "--kind", kind, "--max-draws", "0"), stdout = TRUE, stderr = FALSE)
        ours <- read.csv(text = printed)
        hold(ours$mean, colMeans(theirs))
        hold(ours$sd, apply(theirs, 2, sd))
        hold(as.matrix(ours[, c("q5", "q50", "q95")]), t(apply(theirs, 2, quantile, c(0.05, 0.5, 0.95))))
        if (kind == "mean") mu <- t(theirs)
    }
    predictions <- worst
    # scores and leave-one-out
    worst <- 0
    l <- matrix(density_of(family, y, mu, draws_of(name)), nrow(mu))
    lpd <- apply(l, 1, function(x) max(x) + log(mean(exp(x - max(x)))))
    have <- json(program, "score", run, csv)
    hold(have["elpd"], sum(lpd))
    hold(have["se_elpd"], sqrt(length(lpd) * var(lpd)))
    if (family == "bernoulli") hold(have["brier"], mean((y - rowMeans(mu))^2))
    if (family != "bernoulli") hold(have["rmse"], sqrt(mean((y - rowMeans(mu))^2)))
    scores <- worst
    worst <- 0
    r <- suppressWarnings(loo::loo(t(l), r_eff = rep(1, nrow(l))))
    have <- json(program, "loo", run, csv, "--rows", "0")
    for (of in c("elpd_loo", "p_loo", "looic")) hold(have[c(of, paste0("se_", of))], r$estimates[of, ])
    hold(have["khat"], max(r$diagnostics$pareto_k))
    cat(sprintf("%-10s %6d rows, %d draws: predictions %.1e, scores %.1e, loo %.1e\n", name, nrow(l), ncol(l), predictions, scores, worst))
    max(predictions, scores, worst) <= 1e-6
}

if (arguments[1] == "tables") {
    tables(arguments[2])
} else {
    fine <- TRUE
    for (line in readLines("tables.txt")) {
        part <- strsplit(line, "|", fixed = TRUE)[[1]]
        fine <- compare_one(arguments[2], part[1], part[2], part[3]) && fine
    }
    quit(status = !fine)
}
