# What draws say of rows: the fit's own, or new ones.
predictions <- function(fit, newdata, kind, new_levels, draws, most = 0, seed = 1) {
    to <- tempfile("sbps", fileext = ".csv")
    on.exit(unlink(to))
    numbers <- as.double(c(draws, most, seed, 0))
    answer(with_rows(fit, newdata, function(run, rows) .Call(r_predict, run, rows, c(kind, new_levels), numbers, to)))
    read.csv(to, colClasses = c(class = "character"))
}

row_summaries <- function(fit, newdata, kind, new_levels) suppressWarnings(predictions(fit, newdata, kind, new_levels, FALSE))

# Draws x rows; of models of classes draws x rows x classes.
row_draws <- function(fit, newdata, kind, new_levels, most, seed) {
    told <- suppressWarnings(predictions(fit, newdata, kind, new_levels, TRUE, if (is.null(most)) 0 else most, seed))
    values <- unname(t(as.matrix(told[, startsWith(names(told), "draw")])))
    if (is.null(told$class)) return(values)
    classes <- unique(told$class)
    by_class <- lapply(classes, function(class) values[, told$class == class, drop = FALSE])
    array(unlist(by_class), c(dim(by_class[[1]]), length(classes)), list(NULL, NULL, classes))
}

levels_word <- function(allow) if (isTRUE(allow)) "prior" else "error"

posterior_linpred.sbps <- function(object, transform = FALSE, newdata = NULL, draws = NULL, allow_new_levels = FALSE, seed = 1, ...) {
    row_draws(object, newdata, if (transform) "mean" else "linear", levels_word(allow_new_levels), draws, seed)
}

posterior_epred.sbps <- function(object, newdata = NULL, draws = NULL, allow_new_levels = FALSE, seed = 1, ...) {
    row_draws(object, newdata, "mean", levels_word(allow_new_levels), draws, seed)
}

posterior_predict.sbps <- function(object, newdata = NULL, draws = NULL, allow_new_levels = FALSE, seed = 1, ...) {
    values <- row_draws(object, newdata, "outcome", levels_word(allow_new_levels), draws, seed)
    if (length(dim(values)) == 2) return(values)
    own <- max.col(matrix(values, ncol = dim(values)[3]), "first")
    matrix(dimnames(values)[[3]][own], nrow(values))
}

predictive_interval.sbps <- function(object, prob = 0.9, ...) interval_of(posterior_predict.sbps(object, ...), prob)

log_lik.sbps <- function(object, newdata = NULL, draws = NULL, ...) {
    row_draws(object, newdata, "density", "error", draws, 1)
}

predict.sbps <- function(object, newdata = NULL, type = c("link", "response"), se.fit = FALSE, allow_new_levels = FALSE, ...) {
    kind <- c(link = "linear", response = "mean")[[match.arg(type)]]
    told <- row_summaries(object, newdata, kind, levels_word(allow_new_levels))
    mean <- by_class(told, told$mean)
    if (se.fit) list(fit = mean, se.fit = by_class(told, told$sd)) else mean
}

# A vector, or a matrix with a column a class.
by_class <- function(told, values) {
    if (is.null(told$class)) return(values)
    classes <- unique(told$class)
    matrix(values, ncol = length(classes), byrow = TRUE, dimnames = list(NULL, classes))
}

fitted.sbps <- function(object, ...) predict.sbps(object, type = "response")
