# Predictions for the rows of the fit, or for new rows.
whole <- function(x, name, least = 0) {
    if (!is.numeric(x) || length(x) != 1 || !is.finite(x) || x < least || x >= 2^53) raise("SBPS_BAD_ARG", sprintf("%s: expected a whole number from %d on", name, least))
    floor(x)
}

# Columns of predictions, one row of `values` each, and the labels of classes.
predictions <- function(fit, newdata, kind, new_levels, draws, most = NULL, seed = NULL) {
    numbers <- as.double(c(draws, if (is.null(most)) 0 else whole(most, "draws", 1), if (is.null(seed)) 1 else whole(seed, "seed"), 0))
    taken <- result_or_error(with_rows(fit, newdata, function(run, rows) .Call(r_predict, run, rows, c(kind, new_levels), numbers)))
    names <- setdiff(strsplit(taken[[1]], ",", fixed = TRUE)[[1]], c("row", "class"))
    list(values = taken[[2]], names = names, class = taken[[3]])
}

row_summaries <- function(fit, newdata, kind, new_levels) {
    if (is_empty(newdata)) return(data.frame(mean = numeric(), sd = numeric()))
    taken <- predictions(fit, newdata, kind, new_levels, FALSE)
    out <- as.data.frame(structure(t(taken$values), dimnames = list(NULL, taken$names)))
    if (!is.null(taken$class)) out$class <- taken$class
    out
}

is_empty <- function(data) length(dim(data)) == 2 && nrow(data) == 0

# Draws x rows; of models of classes draws x rows x classes.
row_draws <- function(fit, newdata, kind, new_levels, most, seed) {
    if (is_empty(newdata)) return(matrix(numeric(), length(draw_indices(fit, most)), 0))
    predicted <- predictions(fit, newdata, kind, new_levels, TRUE, most, seed)
    values <- predicted$values
    if (is.null(predicted$class)) return(values)
    classes <- unique(predicted$class)
    by_class <- lapply(classes, function(class) values[, predicted$class == class, drop = FALSE])
    array(unlist(by_class), c(dim(by_class[[1]]), length(classes)), list(NULL, NULL, classes))
}

# Indices of `most` evenly spaced draws; NULL: all.
draw_indices <- function(fit, most) {
    all <- nsamples.sbps(fit)
    if (is.null(most)) seq_len(all) else unique(round(seq(1, all, length.out = min(whole(most, "draws", 1), all))))
}

new_levels_option <- function(allow) if (isTRUE(allow)) "prior" else "error"

# re.form as in lme4: NULL: effects of all groups; NA and ~0: none.
without_groups <- function(re.form) {
    if (is.null(re.form)) return(FALSE)
    if (length(re.form) == 1 && is.na(re.form) || inherits(re.form, "formula") && identical(re.form[[2]], 0)) return(TRUE)
    raise("SBPS_BAD_ARG", "re.form: expected NULL for the effects of all groups, or NA for none")
}

# ---- linear predictors of fixed effects, by R's design matrix ----

# R's design matrix of fixed effects for `rows`, with levels of the fit's rows `own`, and the offset of the formula. It uses the formula
# that was passed to the library, in which columns that R coded are terms.
design_of <- function(fit, own, rows) {
    text <- if (is.null(fit$text)) fit$options[["formula"]] else fit$text
    formula <- fixed_part(stats::as.formula(text, with_splines(environment(fit$formula))))
    own <- as.data.frame(own, optional = TRUE)
    seen <- if (is.null(fit$recipe$there)) own else own[intersect(names(own), c(fit$recipe$there, all.vars(formula[[2]])))]
    terms <- stats::delete.response(stats::terms(formula, data = seen))
    frame <- stats::model.frame(terms, own, na.action = stats::na.pass)
    terms <- attr(frame, "terms")
    levels <- stats::.getXlevels(terms, frame)
    frame <- suppressWarnings(stats::model.frame(terms, as.data.frame(rows, optional = TRUE), xlev = levels, na.action = stats::na.pass))
    x <- stats::model.matrix(terms, frame, contrasts.arg = if (length(levels)) lapply(levels, function(x) "contr.treatment"))
    list(x = x, offset = stats::model.offset(frame))
}

stripped <- function(names, recipe) {
    for (name in recipe_names(recipe)) names <- gsub(quoted(name), name, names, fixed = TRUE)
    names
}

fixed_linpred <- function(fit, newdata, draws) {
    if (is.character(fit$data) || is.character(newdata)) raise("SBPS_BAD_ARG", "re.form: expected rows in memory")
    rows <- if (is.null(newdata)) fit$data else new_rows(fit, newdata)
    design <- design_of(fit, fit$data, rows)
    colnames(design$x) <- stripped(colnames(design$x), fit$recipe)
    values <- fixed_draws(fit)
    values <- values[draw_indices(fit, draws), , drop = FALSE]
    if (!setequal(colnames(values), colnames(design$x))) raise("SBPS_BAD_ARG", "re.form: the design matrix of R differs for this formula, which is not supported")
    offset <- design$offset
    named <- unname(fit$options["offset"])
    if (!is.na(named)) offset <- (if (is.null(offset)) 0 else offset) + as.data.frame(rows, optional = TRUE)[[named]]
    eta <- unname(values %*% t(design$x[, colnames(values), drop = FALSE]))
    if (is.null(offset)) eta else sweep(eta, 2, offset, "+")
}

# Summaries of rows without effects of groups.
fixed_summaries <- function(fit, newdata, kind) {
    draws <- fixed_linpred(fit, newdata, NULL)
    if (kind == "mean") draws <- mean_of(fit, draws)
    data.frame(mean = colMeans(draws), sd = apply(draws, 2, stats::sd))
}

inverse_links <- list(gaussian = identity, student = identity, bernoulli = stats::plogis, binomial = stats::plogis, "binomial(probit)" = stats::pnorm,
                      Beta = stats::plogis, poisson = exp, negbinomial = exp, Gamma = exp)

mean_of <- function(fit, eta) {
    inverse <- inverse_links[[fit$word]]
    if (is.null(inverse)) raise("SBPS_BAD_ARG", sprintf("re.form: the mean of family '%s' is not supported without groups", fit$word))
    inverse(eta)
}

posterior_linpred.sbps <- function(object, transform = FALSE, newdata = NULL, draws = NULL, re.form = NULL, allow_new_levels = FALSE, seed = NULL, ...) {
    no_further_arguments(...)
    if (isTRUE(transform)) return(posterior_epred.sbps(object, newdata, draws, re.form, allow_new_levels, seed))
    if (without_groups(re.form)) return(fixed_linpred(object, newdata, draws))
    row_draws(object, newdata, "linear", new_levels_option(allow_new_levels), draws, seed)
}

posterior_epred.sbps <- function(object, newdata = NULL, draws = NULL, re.form = NULL, allow_new_levels = FALSE, seed = NULL, ...) {
    no_further_arguments(...)
    if (without_groups(re.form)) return(mean_of(object, fixed_linpred(object, newdata, draws)))
    row_draws(object, newdata, "mean", new_levels_option(allow_new_levels), draws, seed)
}

posterior_predict.sbps <- function(object, newdata = NULL, draws = NULL, re.form = NULL, fun = NULL, allow_new_levels = FALSE, seed = NULL, ...) {
    no_further_arguments(...)
    values <- if (without_groups(re.form)) fixed_outcomes(object, newdata, draws, seed)
              else row_draws(object, newdata, "outcome", new_levels_option(allow_new_levels), draws, seed)
    if (length(dim(values)) == 3) {
        own <- max.col(matrix(values, ncol = dim(values)[3]), "first")
        values <- matrix(dimnames(values)[[3]][own], nrow(values))
    }
    if (is.null(fun)) values else match.fun(fun)(values)
}

# Evaluates with R's generator at a seed, and leaves its state as it was.
with_seed <- function(seed, code) {
    before <- get0(".Random.seed", globalenv(), inherits = FALSE)
    on.exit(if (is.null(before)) suppressWarnings(rm(".Random.seed", envir = globalenv())) else assign(".Random.seed", before, globalenv()))
    set.seed(seed)
    code
}

# New responses without effects of groups, by R's generator: the library draws those with effects.
fixed_outcomes <- function(fit, newdata, draws, seed) {
    mean <- mean_of(fit, fixed_linpred(fit, newdata, draws))
    of <- function(name) rep(auxiliary_draws(fit, name)[draw_indices(fit, draws)], ncol(mean))
    trials <- if (startsWith(fit$word, "binomial")) rep(rep_len(trials_of(fit, rows_of(fit, newdata)), ncol(mean)), each = nrow(mean))
    n <- length(mean)
    values <- with_seed(if (is.null(seed)) 1 else whole(seed, "seed"), switch(fit$word,
        gaussian = stats::rnorm(n, mean, of("sigma")), student = mean + of("sigma") * stats::rt(n, of("nu")), bernoulli = stats::rbinom(n, 1, mean),
        binomial = , "binomial(probit)" = stats::rbinom(n, trials, mean), poisson = stats::rpois(n, mean), negbinomial = stats::rnbinom(n, size = of("phi"), mu = mean),
        Gamma = stats::rgamma(n, of("shape"), of("shape") / mean), Beta = stats::rbeta(n, mean * of("phi"), (1 - mean) * of("phi"))))
    matrix(as.double(values), nrow(mean))
}

predictive_interval.sbps <- function(object, prob = 0.9, ...) interval_of(posterior_predict.sbps(object, ...), prob)

log_lik.sbps <- function(object, newdata = NULL, draws = NULL, ...) {
    no_further_arguments(...)
    row_draws(object, newdata, "density", "error", draws, 1)
}

predict.sbps <- function(object, newdata = NULL, type = c("link", "response"), se.fit = FALSE, allow_new_levels = FALSE, re.form = NULL, ...) {
    no_further_arguments(...)
    kind <- c(link = "linear", response = "mean")[[match.arg(type)]]
    predicted <- if (without_groups(re.form)) fixed_summaries(object, newdata, kind)
                 else row_summaries(object, newdata, kind, new_levels_option(allow_new_levels))
    pad <- if (is.null(newdata)) padded(object) else identity
    mean <- pad(by_class(predicted, predicted$mean))
    if (se.fit) list(fit = mean, se.fit = pad(by_class(predicted, predicted$sd))) else mean
}

# Inserts NA for rows that na.exclude left out.
padded <- function(fit) {
    left <- attr(fit$data, "na.action")
    function(values) stats::napredict(left, values)
}

# A vector, or a matrix with a column per class.
by_class <- function(predicted, values) {
    if (is.null(predicted$class)) return(values)
    classes <- unique(predicted$class)
    matrix(values, ncol = length(classes), byrow = TRUE, dimnames = list(NULL, classes))
}

fitted.sbps <- function(object, ...) predict.sbps(object, type = "response")

# ---- outcomes and residuals ----

# Rows as a data frame. Files are read.
rows_of <- function(fit, newdata) {
    data <- if (is.null(newdata)) fit$data else newdata
    if (is.character(data)) {
        files <- unlist(strsplit(data, "\n", fixed = TRUE))
        data <- do.call(rbind, lapply(files, read.csv, check.names = FALSE))
        return(if (!"error" %in% fit$options["missing"]) stats::na.omit(data[intersect(all.vars(fit$formula), names(data))]) else data)
    }
    if (is.null(newdata)) as.data.frame(data, optional = TRUE) else new_rows(fit, data)
}

# The responses: numbers, successes of trials, or 1 for the second of two levels.
response_of <- function(fit, rows) {
    left <- name_calls(fit$formula, fit$recipe$calls)[[2]]
    if (is_call_of(left, c("cbind", "|"))) left <- left[[2]]
    y <- eval(left, as.data.frame(rows, optional = TRUE), environment(fit$formula))
    if (is.character(y)) y <- factor(y)
    if (is.factor(y) && nlevels(y) == 2) y <- as.double(y == levels(y)[2])
    if (!is.numeric(y)) raise("SBPS_BAD_ARG", "responses are classes, not numbers")
    as.double(y)
}

trials_of <- function(fit, rows) {
    left <- fit$formula[[2]]
    value <- function(x) eval(x, as.data.frame(rows, optional = TRUE), environment(fit$formula))
    if (is_call_of(left, "cbind")) return(as.double(value(left[[2]]) + value(left[[3]])))
    if (is_call_of(left, "|")) return(as.double(value(left[[3]][[2]])))
    name <- c(fit$options[names(fit$options) %in% c("trials", if (fit$word == "binomial") "weights")])
    if (length(name)) as.double(rows[[name[[1]]]]) else 1
}

# Responses on the scale of means: proportions for trials.
proportion_of <- function(fit, rows) {
    y <- response_of(fit, rows)
    shares <- is_call_of(fit$formula[[2]], c("cbind", "|")) || "trials" %in% names(fit$options)
    if (shares) y / trials_of(fit, rows) else y
}

# Responses on the scale of posterior_predict: successes, not proportions.
outcome_of <- function(fit, rows) proportion_of(fit, rows) * if (fit$word %in% c("binomial", "binomial(probit)")) trials_of(fit, rows) else 1

residuals.sbps <- function(object, ...) {
    left <- attr(object$data, "na.action")
    stats::naresid(left, proportion_of(object, rows_of(object, NULL)) - row_summaries(object, NULL, "mean", "error")$mean)
}

predictive_error.sbps <- function(object, newdata = NULL, draws = NULL, seed = NULL, ...) {
    drawn <- posterior_predict.sbps(object, newdata = newdata, draws = draws, seed = seed, ...)
    sweep(-drawn, 2, outcome_of(object, rows_of(object, newdata)), "+")
}

# The fraction of a new response's variance that its mean explains, for each draw, for gaussian and binomial models.
bayes_R2.sbps <- function(object, re.form = NULL, ...) {
    no_further_arguments(...)
    mean <- posterior_epred.sbps(object, re.form = re.form)
    left <- if (object$word == "gaussian") auxiliary_draws(object, "sigma")^2 else if (object$word %in% c("bernoulli", "binomial", "binomial(probit)")) {
        trials <- rep_len(trials_of(object, rows_of(object, NULL)), ncol(mean))
        mean <- sweep(mean, 2, trials, "*")
        rowMeans(mean * (1 - sweep(mean, 2, trials, "/")))
    } else raise("SBPS_BAD_ARG", "bayes_R2: expected a model of family gaussian or binomial")
    explained <- apply(mean, 1, stats::var)
    unname(explained / (explained + left))
}
