# sbps(): a formula, data and options become a fit.

# Names that rstanarm has for what the library calls otherwise.
family_word <- function(family, formula, data) {
    if (is.character(family)) return(family)
    if (is.function(family)) family <- family()
    of <- paste0(family$family, "(", family$link, ")")
    if (family$family == "binomial") return(binomial_word(family$link, formula, data))
    words <- c("gaussian(identity)" = "gaussian", "poisson(log)" = "poisson", "Gamma(log)" = "Gamma",
               "neg_binomial_2(log)" = "negbinomial", "student(identity)" = "student")
    if (!of %in% names(words)) {
        raise("SBPS_BAD_ARG", sprintf("family: %s is not there, want binomial (logit, probit), %s, or a name that the command line knows",
                                      of, paste(names(words), collapse = ", ")))
    }
    words[[of]]
}

# One outcome a row, or successes of several trials? A name that is no model is left for the library to speak of.
binomial_word <- function(link, formula, data) {
    if (link == "probit") return("binomial(probit)")
    if (link != "logit") return(sprintf("binomial(%s)", link))
    left <- formula[[2]]
    counted <- is.call(left) && as.character(left[[1]])[1] %in% c("cbind", "|")
    if (counted) return("binomial")
    y <- if (is.name(left) && is.data.frame(data)) data[[as.character(left)]]
    if (is.double(y) && any(y > 0 & y < 1, na.rm = TRUE)) "binomial" else "bernoulli"
}

option_text <- function(value, name) {
    if (isTRUE(value)) return("true")
    if (isFALSE(value)) return("false")
    if (is.numeric(value)) value <- sprintf("%.15g", value)
    if (!is.character(value) || !length(value)) {
        raise("SBPS_BAD_ARG", sprintf("%s: want a text or a number", name))
    }
    paste(value, collapse = ",")
}

# Options as the command line has them: _ stands for -, NULL for nothing said.
options_of <- function(given) {
    given <- Filter(Negate(is.null), given)
    names <- gsub("_", "-", names(given), fixed = TRUE)
    values <- unlist(Map(option_text, given, names))
    stats::setNames(as.character(values), names)
}

has_groups <- function(formula) {
    "|" %in% all.names(formula[[3]]) || "||" %in% all.names(formula[[3]])
}

check_formula <- function(formula) {
    formula <- as.formula(formula)
    if (length(formula) != 3) raise("SBPS_BAD_ARG", "the formula has no left side: want y ~ x")
    formula
}

# The rows as the routine takes them: a name, a matrix or columns.
handed <- function(formula, data, also, na.action) {
    if (is.character(data)) return(paste(path.expand(data), collapse = "\n"))
    if (is.matrix(data) && is.double(data) && !is.null(colnames(data)) && !anyNA(data)) return(data)
    if (is.matrix(data)) data <- as.data.frame(data)
    if (!is.list(data)) raise("SBPS_BAD_ARG", "data: want a data frame, a matrix or the name of a file")
    frame_of(formula, data, also, na.action)
}

sbps <- function(formula, data = list(), family = gaussian(), prior = NULL, prior_intercept = NULL, seed = 1, ess = NULL,
                 ranef = TRUE, na.action = getOption("na.action"), progress = interactive(), ...) {
    call <- match.call()
    formula <- check_formula(formula)
    more <- list(...)
    if (length(more) && (is.null(names(more)) || any(names(more) == ""))) raise("SBPS_BAD_ARG", "options stand by their names, as in chains = 4")
    if (is.null(na.action)) na.action <- "na.omit"
    also <- unlist(more[intersect(names(more), c("weights", "offset", "trials"))])
    rows <- handed(formula, data, also, na.action)
    word <- family_word(family, formula, rows)
    given <- list(formula = paste(deparse(formula, width.cutoff = 500L), collapse = " "), family = word, prior = prior,
                  prior_intercept = prior_intercept, seed = seed, ess = ess)
    if (has_groups(formula) && isTRUE(ranef)) given$ranef <- "all"
    if (is.character(rows) && !identical(match.fun(na.action), stats::na.fail)) given$missing <- "drop"
    given <- options_of(utils::modifyList(given, more))
    path <- tempfile("sbps", fileext = ".nc")
    on.exit(unlink(path))
    told <- answer(.Call(r_sample, rows, colnames(rows), given, paste(deparse(call), collapse = " "), path, progress))
    fit <- fit_of(path, told, list(call = call, formula = formula, family = family, word = word, data = rows, options = given))
    warn_of(fit)
    fit
}

fit_of <- function(path, told, made) {
    draws <- answer(.Call(r_draws, path))
    figures <- answer(.Call(r_parameters, path))
    dimnames(draws) <- list(NULL, NULL, rownames(figures))
    bytes <- readBin(path, "raw", file.size(path))
    structure(c(made, told, list(draws = draws, figures = figures, run = bytes)), class = "sbps")
}

# The command line's warnings, as R's.
warn_of <- function(fit) {
    tell <- function(...) warning(sprintf(...), call. = FALSE)
    if (nzchar(fit$notes) && is.character(fit$data)) message(trimws(fit$notes))
    for (sentence in fit$warnings) tell("%s", sentence)
    if (fit$interrupted) tell("interrupted: the fit holds the draws made so far")
    rhat <- suppressWarnings(max(fit$figures[, "rhat"], na.rm = TRUE))
    bias <- suppressWarnings(max(abs(fit$figures[, "bias"]), na.rm = TRUE))
    budget <- if ("bias-budget" %in% names(fit$options)) as.numeric(fit$options["bias-budget"]) else 0.02
    if (!is.finite(rhat)) tell("too few draws to tell whether the chains agree")
    else if (rhat > 1.01) tell("the chains have not converged: R-hat %.3f > 1.01; diagnose() says more", rhat)
    if (is.finite(bias) && bias > budget) {
        tell("the stated bias of %.4f posterior sd is above the budget of %g; diagnose() says more", bias, budget)
    }
}

update.sbps <- function(object, formula. = NULL, ..., evaluate = TRUE) {
    call <- object$call
    if (!is.null(formula.)) call$formula <- update.formula(object$formula, formula.)
    more <- match.call(expand.dots = FALSE)$...
    for (name in names(more)) call[[name]] <- more[[name]]
    if (evaluate) eval(call, parent.frame()) else call
}
