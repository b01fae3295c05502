# Methods as in rstanarm, lme4 and broom.
sigma.sbps <- function(object, ...) {
    sigma <- auxiliary_draws(object, "sigma")
    if (is.null(sigma)) 1 else median(sigma)
}

ngrps.sbps <- function(object, ...) {
    if (!has_groups(object$formula)) raise("SBPS_BAD_ARG", "the fit has no groups")
    vapply(ranef.sbps(object), nrow, 1L)
}

se.sbps <- function(object, ...) apply(as.matrix(object)[, parts_of(object) != "effect", drop = FALSE], 2, stats::mad)

nsamples.sbps <- function(object, ...) prod(dim(object$draws)[1:2])

# ---- summary ----

chosen <- function(names, pars, regex_pars) {
    strange <- setdiff(pars, names)
    if (length(strange)) raise("SBPS_BAD_ARG", sprintf("pars: no parameter is called '%s'", strange[1]))
    if (is.null(pars) && is.null(regex_pars)) return(names)
    unique(c(pars, unlist(lapply(regex_pars, grep, names, value = TRUE))))
}

summary.sbps <- function(object, pars = NULL, regex_pars = NULL, probs = NULL, ranef = FALSE, verbose = FALSE, ..., digits = 3) {
    no_further_arguments(...)
    figures <- object$figures
    own <- chosen(rownames(figures), pars, regex_pars)
    if (is.null(pars) && is.null(regex_pars) && !ranef) own <- own[parts_of(object) != "effect"]
    asked <- !is.null(pars) || !is.null(regex_pars) || !is.null(probs)
    figures <- figures[own, , drop = FALSE]
    if (!is.null(probs)) {
        quantiles <- t(apply(as.matrix(object, own), 2, quantile, probs = probs))
        if (length(probs) == 1) quantiles <- matrix(quantiles, dimnames = list(NULL, paste0(format(100 * probs, trim = TRUE), "%")))
        figures <- cbind(figures[, c("mean", "mcse", "sd"), drop = FALSE], quantiles, figures[, c("ess_bulk", "ess_tail", "rhat", "bias"), drop = FALSE])
    }
    structure(figures, class = c("summary.sbps", "matrix"), text = if (!asked) summary_text(object, ranef, verbose), left = attr(object$data, "na.action"), digits = digits)
}

print.summary.sbps <- function(x, ...) {
    text <- attr(x, "text")
    if (is.null(text)) print(signif(matrix(x, nrow(x), dimnames = dimnames(x)), attr(x, "digits") + 1))
    else {
        cat(text)
        print_left_out(attr(x, "left"))
    }
    invisible(x)
}

as.data.frame.summary.sbps <- function(x, ...) as.data.frame(matrix(x, nrow(x), dimnames = dimnames(x)), ...)

# ---- broom ----

tidy_rows <- function(draws, conf.int, conf.level) {
    out <- data.frame(term = colnames(draws), estimate = apply(draws, 2, median), std.error = apply(draws, 2, stats::mad), row.names = NULL)
    if (!conf.int) return(out)
    limits <- interval_of(draws, conf.level)
    cbind(out, conf.low = unname(limits[, 1]), conf.high = unname(limits[, 2]))
}

tidy.sbps <- function(x, effects = "fixed", conf.int = FALSE, conf.level = 0.9, ...) {
    parts <- list(fixed = "fixed", auxiliary = "auxiliary", ran_pars = c("sd", "cor"), ran_vals = "effect")
    if (!all(effects %in% names(parts))) raise("SBPS_BAD_ARG", sprintf("effects: expected some of %s", paste(names(parts), collapse = ", ")))
    own <- parts_of(x) %in% unlist(parts[effects])
    out <- tidy_rows(as.matrix(x)[, own, drop = FALSE], conf.int, conf.level)
    if (!identical(effects, "ran_vals")) return(out)
    about <- effects_table(x)
    cbind(group = about$group, level = about$level, term = about$column, out[-1])
}

glance.sbps <- function(x, ...) {
    data.frame(algorithm = "sbps", pss = nsamples.sbps(x), nobs = nobs(x), sigma = sigma.sbps(x), min.ess = x$min_ess,
               max.rhat = max(x$figures[, "rhat"]), row.names = NULL)
}

# ---- plots, by bayesplot ----

bayesplot_function <- function(kind, name) {
    need("bayesplot", kind)
    full <- if (startsWith(name, kind)) name else paste0(kind, name)
    if (!full %in% getNamespaceExports("bayesplot")) raise("SBPS_BAD_ARG", sprintf("plotfun: bayesplot has no %s", full))
    getExportedValue("bayesplot", full)
}

plot.sbps <- function(x, plotfun = "intervals", pars = NULL, regex_pars = NULL, ...) {
    draw <- bayesplot_function("mcmc_", plotfun)
    values <- as.array(x)
    own <- if (is.null(pars) && is.null(regex_pars)) dimnames(values)[[3]][parts_of(x) != "effect"] else chosen(dimnames(values)[[3]], pars, regex_pars)
    values <- values[, , own, drop = FALSE]
    if (plotfun %in% c("rhat", "rhat_hist", "mcmc_rhat", "mcmc_rhat_hist")) values <- stats::setNames(x$figures[match(own, rownames(x$figures)), "rhat"], own)
    if (plotfun %in% c("neff", "neff_hist", "mcmc_neff", "mcmc_neff_hist")) {
        values <- stats::setNames(x$figures[match(own, rownames(x$figures)), "ess_bulk"] / nsamples.sbps(x), own)
    }
    draw(values, ...)
}

# A column by its name, or values.
of_column <- function(x, rows) if (is.character(x) && length(x) == 1) rows[[x]] else x

# Default numbers of replications: few panels, more lines; NULL: all draws.
usual_nreps <- function(plotfun) {
    if (grepl("hist|boxplot|freqpoly|violin|error_binned|scatter$", plotfun)) return(5)
    if (grepl("overlay", plotfun)) 50
}

pp_check.sbps <- function(object, plotfun = "dens_overlay", nreps = NULL, seed = NULL, ...) {
    draw <- bayesplot_function("ppc_", plotfun)
    if (is.null(nreps)) nreps <- usual_nreps(plotfun)
    rows <- rows_of(object, NULL)
    more <- list(...)
    for (name in intersect(names(more), c("group", "x"))) more[[name]] <- of_column(more[[name]], rows)
    if (grepl("error_binned", plotfun)) {
        return(do.call(draw, c(list(proportion_of(object, rows), posterior_epred.sbps(object, draws = nreps)), more)))
    }
    do.call(draw, c(list(outcome_of(object, rows), posterior_predict.sbps(object, draws = nreps, seed = seed)), more))
}
