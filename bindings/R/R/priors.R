# Priors as in rstanarm: normal(0, 2.5) is a list; lists made by rstanarm are accepted, too. Strings are priors of the command line and
# are passed on unchanged.
prior_of <- function(dist, df, location, scale, autoscale) {
    structure(list(dist = dist, df = df, location = location, scale = scale, autoscale = autoscale), class = "sbps_prior")
}

normal <- function(location = 0, scale = 2.5, autoscale = FALSE) prior_of("normal", NA, location, scale, autoscale)
student_t <- function(df = 1, location = 0, scale = 2.5, autoscale = FALSE) prior_of("t", df, location, scale, autoscale)
cauchy <- function(location = 0, scale = 2.5, autoscale = FALSE) prior_of("t", 1, location, scale, autoscale)
laplace <- function(location = 0, scale = 2.5, autoscale = FALSE) prior_of("laplace", NA, location, scale, autoscale)
exponential <- function(rate = 1, autoscale = FALSE) prior_of("exponential", NA, NA, 1 / rate, autoscale)

number <- function(x) sprintf("%.15g", x)

prior_kinds <- c("normal", "t", "laplace", "exponential")

# One string for each of the numbers, which are recycled.
prior_texts <- function(prior, name) {
    if (identical(prior$dist, "hs")) return(sprintf("hs(%s)", paste(number(unlist(prior[c("df", "global_df", "global_scale", "slab_df", "slab_scale")])), collapse = ",")))
    refuse_prior(prior$dist, paste0(name, ": "))
    if (!prior$dist %in% prior_kinds) {
        raise("SBPS_BAD_ARG", sprintf("%s: unknown prior '%s', expected normal, student_t, cauchy, laplace or hs, for positive parameters exponential", name, prior$dist))
    }
    scale <- if (is.null(prior$scale)) 2.5 else prior$scale
    if (!is.numeric(scale) || anyNA(scale) || any(scale <= 0)) raise("SBPS_BAD_ARG", sprintf("%s: expected a scale above 0", name))
    switch(prior$dist,
           normal = sprintf("normal(%s,%s)", number(prior$location), number(scale)),
           t = sprintf("student_t(%s,%s,%s)", number(prior$df), number(prior$location), number(scale)),
           laplace = sprintf("laplace(%s,%s)", number(prior$location), number(scale)),
           exponential = sprintf("exponential(%s)", number(1 / scale)))
}

is_prior <- function(x) is.list(x) && is.character(x$dist) && length(x$dist) == 1

print.sbps_prior <- function(x, ...) {
    cat(prior_texts(x, "prior"), sep = "\n")
    invisible(x)
}

format.sbps_prior <- function(x, ...) prior_texts(x, "prior")

# ---- in the units of the rows ----

# The columns of R's design matrix of fixed effects, without the intercept.
fixed_design <- function(made) {
    out <- design_of(made, made$rows, made$rows)$x
    out[, attr(out, "assign") != 0, drop = FALSE]
}

spread_of <- function(x) {
    spread <- stats::sd(x)
    if (is.finite(spread) && spread > 0) spread else 1
}

# The unit of the response: its sd for gaussian and student, else 1.
response_unit <- function(made) if (isTRUE(made$word %in% c("gaussian", "student"))) stats::sd(response_of(made, made$rows)) else 1

# Where rstanarm's default prior of the intercept is: the mean of the response for gaussian models.
response_centre <- function(made) if (isTRUE(made$word == "gaussian")) mean(response_of(made, made$rows)) else 0

# A prior of coefficients: one string if all have the same, else a piece for each.
coefficient_prior <- function(prior, made) {
    default <- isTRUE(prior$autoscale) && identical(prior$dist, "normal") && all(prior$location == 0) && (is.null(prior$scale) || all(prior$scale == 2.5))
    if (default) return(NULL)
    if (!prior$dist %in% prior_kinds) return(prior_texts(prior, "prior"))
    lengths <- c(length(prior$location), length(prior$scale), length(prior$df))
    numbers <- max(lengths)
    if (numbers == 1 && !isTRUE(prior$autoscale)) return(prior_texts(prior, "prior"))
    if (is.character(made$rows)) raise("SBPS_BAD_ARG", "prior: for columns of a file, expected one prior for all, or a text with their names")
    design <- fixed_design(made)
    wrong <- lengths[!lengths %in% c(0L, 1L, ncol(design))]
    if (length(wrong)) {
        called <- paste(stripped(colnames(design), made$recipe), collapse = ", ")
        raise("SBPS_BAD_ARG", sprintf("prior: %d numbers for %d coefficients (%s)", wrong[1], ncol(design), called))
    }
    if (ncol(design) == 0) return(NULL)
    if (isTRUE(prior$autoscale)) {
        scale <- if (is.null(prior$scale)) 2.5 else prior$scale
        prior$scale <- scale * response_unit(made) / apply(design, 2, spread_of)
    }
    texts <- rep_len(prior_texts(prior, "prior"), ncol(design))
    paste0(colnames(design), "=", texts, collapse = "; ")
}

one_prior <- function(prior, name, unit) {
    refuse_prior(prior$dist, paste0(name, ": "))
    if (isTRUE(prior$autoscale)) prior$scale <- (if (is.null(prior$scale)) 2.5 else prior$scale) * unit
    texts <- prior_texts(prior, name)
    if (length(texts) != 1) raise("SBPS_BAD_ARG", sprintf("%s: expected one prior", name))
    texts
}

aux_option <- c(gaussian = "prior_sigma", student = "prior_sigma", negbinomial = "prior_phi", Beta = "prior_phi", Gamma = "prior_shape")

# prior, prior_intercept (of the predictor at the means of the columns) and prior_aux of rstanarm, as options.
priors_given <- function(given, made) {
    if (isTRUE(made$rstanarm)) given <- rstanarm_defaults(given, made)
    if (is_prior(given$prior)) given["prior"] <- list(coefficient_prior(given$prior, made))
    if (!is.null(given$prior_covariance)) {
        own <- covariance_options(given$prior_covariance, made)
        twice <- intersect(names(own), names(given))
        if (length(twice)) raise("SBPS_BAD_ARG", sprintf("prior_covariance and %s: give one of them", twice[1]))
        given <- c(given[names(given) != "prior_covariance"], own)
    }
    if (is_prior(given$prior_intercept)) {
        if (is.null(given$prior_intercept$location)) given$prior_intercept$location <- response_centre(made)
        given$prior_intercept <- one_prior(given$prior_intercept, "prior_intercept", response_unit(made))
        if (is.null(given$prior_intercept_at)) given$prior_intercept_at <- "mean"
    }
    if (!is.null(given$prior_aux)) {
        if (is.null(made$word)) raise("SBPS_BAD_ARG", "prior_aux: name the family, too")
        if (!made$word %in% names(aux_option)) raise("SBPS_BAD_ARG", sprintf("prior_aux: family '%s' has no parameter for it", made$word))
        aux <- given$prior_aux
        given[[aux_option[[made$word]]]] <- if (is_prior(aux)) one_prior(aux, "prior_aux", response_unit(made)) else aux
        given$prior_aux <- NULL
    }
    for (name in names(Filter(is_prior, given))) given[[name]] <- one_prior(given[[name]], name, 1)
    given
}

neg_binomial_2 <- function(link = "log") structure(list(family = "neg_binomial_2", link = link), class = "family")

# The priors in the description of the run.
prior_summary.sbps <- function(object, ...) {
    lines <- strsplit(object$description, "\n", fixed = TRUE)[[1]]
    title <- trimws(substr(lines, 1, 12))
    for (k in seq_along(title)[-1]) if (!nzchar(title[k])) title[k] <- title[k - 1]
    as_text(paste0(sub("^  prior     ", "", lines[title == "prior"]), "\n", collapse = ""))
}
