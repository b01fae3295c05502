# A model as a function of a block of rows, in place of a family.
sbps_model <- function(rows, names = NULL, start = NULL, prior_sd = NULL, name = "mine") {
    if (!is.function(rows)) raise("SBPS_BAD_ARG", "rows: expected a function of w, x and y")
    sizes <- c(length(names), length(start), length(prior_sd))
    sizes <- unique(sizes[sizes > 0])
    if (length(sizes) > 1) raise("SBPS_BAD_ARG", "names, start and prior_sd: expected as many of each as there are parameters")
    if (!is.null(names) && (!is.character(names) || anyNA(names))) raise("SBPS_BAD_ARG", "names: expected a character vector")
    if (!is.numeric(c(0, start, prior_sd)) || anyNA(c(start, prior_sd))) raise("SBPS_BAD_ARG", "start and prior_sd: expected numbers")
    if (!is.character(name) || length(name) != 1 || is.na(name)) raise("SBPS_BAD_ARG", "name: expected a string")
    structure(list(rows = rows, names = names, start = start, prior_sd = prior_sd, name = name, dim = if (length(sizes)) sizes else 0), class = "sbps_model")
}

print.sbps_model <- function(x, ...) {
    cat("a model as a function: ", x$name, if (x$dim) sprintf(", %d parameters", x$dim), "\n", sep = "")
    invisible(x)
}

# Evaluates the function on n rows. Returns log densities, and gradients row after row, as the C routine expects them.
check_values <- function(values, n, dim) {
    if (!is.list(values) || is.null(values$loglik) || is.null(values$gradient)) stop("expected a list of loglik and gradient", call. = FALSE)
    if (!is.numeric(values$loglik) || length(values$loglik) != n) stop(sprintf("loglik: expected %d numbers, one per row", n), call. = FALSE)
    gradient <- values$gradient
    if (is.null(dim(gradient)) && dim == 1) gradient <- matrix(gradient, ncol = 1)
    if (!is.numeric(gradient) || !identical(dim(gradient), c(n, dim))) stop(sprintf("gradient: expected a matrix of %d rows and %d columns", n, dim), call. = FALSE)
    list(as.double(values$loglik), as.double(t(gradient)))
}

# Returns errors as their messages, an interrupt as NULL, and other jumps as errors.
guard <- function(rows) {
    jumped <- function() stop("the function did not return normally", call. = FALSE)
    function(w, x, y) {
        tryCatch(withRestarts(check_values(rows(w, x, y), length(y), length(w)), abort = jumped),
                 error = function(e) paste0(conditionMessage(e), ""), interrupt = function(e) NULL)
    }
}

model_argument <- function(model) {
    if (is.null(model)) return(NULL)
    real <- function(x) if (!is.null(x)) as.double(x)
    list(guard(model$rows), model$name, model$names, real(model$start), real(model$prior_sd), as.double(model$dim))
}
