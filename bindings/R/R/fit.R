# sbps(): fits a formula to data.

# The library's name of a family of R or rstanarm.
family_name <- function(family, formula, data) {
    if (is.character(family)) return(family)
    if (inherits(family, "sbps_model")) return("function")
    if (is.function(family)) family <- family()
    if (!inherits(family, "family")) raise("SBPS_BAD_ARG", "family: expected one of R's, such as binomial(), or a name as text")
    of <- paste0(family$family, "(", family$link, ")")
    if (family$family == "binomial") return(binomial_family(family$link, formula, data))
    supported <- c("gaussian(identity)" = "gaussian", "poisson(log)" = "poisson", "Gamma(log)" = "Gamma",
               "neg_binomial_2(log)" = "negbinomial", "student(identity)" = "student")
    if (!of %in% names(supported)) {
        raise("SBPS_BAD_ARG", sprintf("family: %s is not supported, expected binomial (logit, probit), %s, or a name that the command line accepts",
                                      of, paste(names(supported), collapse = ", ")))
    }
    supported[[of]]
}

# Bernoulli or binomial, by the response. Unknown links are passed on: the library reports the error.
binomial_family <- function(link, formula, data) {
    if (link == "probit") return("binomial(probit)")
    if (link != "logit") return(sprintf("binomial(%s)", link))
    left <- formula[[2]]
    counted <- is.call(left) && as.character(left[[1]])[1] %in% c("cbind", "|")
    if (counted) return("binomial")
    y <- if (is.name(left) && is.data.frame(data)) data[[as.character(left)]]
    if (is.double(y) && any(y > 0 & y < 1, na.rm = TRUE)) "binomial" else "bernoulli"
}

# The family that the library will choose for a response in memory, which priors need to know; NULL for files.
likely_family <- function(made, more) {
    if (!is.null(more$trials)) return("binomial")
    if (is_file(made$rows)) return(NULL)
    y <- tryCatch(response_of(made, made$rows), error = function(e) NULL)
    if (!is.null(y) && setequal(unique(y[!is.na(y)]), c(0, 1))) "bernoulli" else "gaussian"
}

# The family that the library has chosen, from its description of the run, and the reason.
chosen_family <- function(description) {
    line <- grep("^  family  ", strsplit(description, "\n", fixed = TRUE)[[1]], value = TRUE)
    if (length(line)) sub("^  family +", "", line[1]) else "gaussian"
}

option_text <- function(value, name) {
    if (isTRUE(value)) return("true")
    if (isFALSE(value)) return("false")
    if (is.numeric(value)) value <- number(value)
    if (!is.character(value) || !length(value)) {
        raise("SBPS_BAD_ARG", sprintf("%s: expected a string or a number", name))
    }
    paste(value, collapse = ",")
}

# Options as on the command line: _ stands for -, NULL options are left out.
options_of <- function(given) {
    given <- Filter(Negate(is.null), given)
    names <- gsub("_", "-", names(given), fixed = TRUE)
    values <- unlist(Map(option_text, given, names))
    stats::setNames(as.character(values), names)
}

has_groups <- function(formula) length(bars_of(formula[[3]])) > 0

check_formula <- function(formula) {
    if (!inherits(formula, "formula") && !is.character(formula)) raise("SBPS_BAD_ARG", "formula: expected a formula, as in y ~ x")
    formula <- as.formula(formula, parent.frame(2))
    if (length(formula) != 3) raise("SBPS_BAD_ARG", "the formula has no left side: expected y ~ x")
    formula
}

# True if a matrix can be passed to the library without copying.
is_borrowable <- function(formula, data, arguments) {
    is.double(data) && !is.null(colnames(data)) && !anyNA(data) && !length(arguments$own) && is.null(arguments$subset) &&
        all(setdiff(c(all.vars(formula), arguments$also), c(".", "T", "F")) %in% colnames(data)) && !length(computed_calls(formula))
}

# The rows for the C routine (a file name, a matrix or columns), the text of the formula, and the recipe for new rows.
input_rows <- function(formula, data, arguments) {
    plain <- list(text = text_of_call(formula))
    if (is_file(data)) {
        if (!length(data) || anyNA(data)) raise("SBPS_BAD_ARG", "data: expected the name of a file")
        if (!is.null(arguments$subset) || length(arguments$own)) raise("SBPS_BAD_ARG", "subset, weights and offset of a file's rows: expected names of its columns, as in weights = \"w\"")
        return(c(plain, list(rows = paste(path.expand(data), collapse = "\n"))))
    }
    if (inherits(data, "sparseMatrix")) {
        rows <- borrowable_entries(formula, data, arguments)
        if (!is.null(rows)) return(c(plain, list(rows = rows)))
        data <- dense_of(data, required_names(formula, colnames(data), arguments$also))
    }
    if (is.matrix(data) && is_borrowable(formula, data, arguments)) return(c(plain, list(rows = data)))
    if (is.matrix(data) && is.null(colnames(data))) raise("SBPS_BAD_ARG", "data: expected a matrix with names of its columns")
    if (is.matrix(data)) data <- as.data.frame(data)
    if (!is.list(data)) raise("SBPS_BAD_ARG", "data: expected a data frame, a matrix or the name of a file")
    frame_of(formula, data, arguments)
}

# Arguments of rstanarm that are ignored or have another name here.
from_rstanarm <- function(more) {
    if (isTRUE(more$prior_PD)) more$prior_only <- TRUE
    if (!is.null(more$algorithm) && !identical(more$algorithm, "sampling")) raise("SBPS_BAD_ARG", "algorithm: expected \"sampling\"")
    if (!is.null(more$cores) && is.null(more$threads)) more$threads <- more$cores
    idle <- c("init_r", "save_pars", "show_messages", "verbose", "do_residuals", "iter", if (!is.null(more$iter)) "warmup", "thin", "adapt_delta", "control", "QR", "init", "save_warmup", "open_progress", "mean_PPD")
    ignored <- setdiff(intersect(names(more), idle), "mean_PPD")
    if (length(ignored)) message(paste(ignored, collapse = ", "), ": ignored, the run stops at the effective sample size `ess`")
    more[setdiff(names(more), c(idle, "algorithm", "prior_PD", "cores", "refresh", "model", "x", "y", "sparse"))]
}

# The call as text. Arguments that contain data, as do.call makes them, are replaced by dots.
command_of <- function(call) {
    large <- vapply(as.list(call), function(x) !is.language(x) && utils::object.size(x) > 10000, NA)
    call[large] <- list(quote(...))
    paste(deparse(call), collapse = " ")
}

column_names <- function(data) if (is.matrix(data) || inherits(data, "sparseMatrix")) colnames(data) else names(data)

# These names, changed if necessary so that they differ from existing columns.
unused_names <- function(names, taken) utils::tail(make.unique(c(unique(as.character(taken)), names)), length(names))

# The arguments weights, offset and subset: as values, or as names of columns.
row_arguments <- function(expressions, more, data, contrasts, na.action, formula) {
    env <- environment(formula)
    values <- Map(function(x, name) row_values(x, name, data, env), expressions, names(expressions))
    values <- Filter(Negate(is.null), values)
    text <- vapply(values, is.character, NA) & names(values) != "subset"
    own <- values[!text & names(values) != "subset"]
    part <- names(own)
    names(own) <- unused_names(sprintf("(%s)", part), c(column_names(data), all.vars(formula)))
    names <- c(values[text], stats::setNames(as.list(names(own)), part))
    list(own = own, part = stats::setNames(part, names(own)), names = names, also = unlist(c(values[text], more["trials"])), subset = values$subset, contrasts = contrasts, na.action = na.action)
}

sbps <- function(formula, data = list(), family = NULL, prior = NULL, prior_intercept = NULL, seed = 1, ess = NULL,
                 ranef = TRUE, na.action = getOption("na.action"), progress = interactive(), ..., weights = NULL, offset = NULL,
                 subset = NULL, contrasts = NULL) {
    call <- match.call()
    formula <- check_formula(formula)
    more <- list(...)
    as_rstanarm <- identical(more$from, "rstanarm")
    more$from <- NULL
    if (length(more) && (is.null(names(more)) || any(names(more) == ""))) raise("SBPS_BAD_ARG", "options need names, as in chains = 4")
    if (!is.null(more$refresh) && missing(progress)) progress <- progress && more$refresh > 0
    more <- from_rstanarm(more)
    if (is.null(na.action)) na.action <- "na.omit"
    if (is.null(more$missing) && (!is_file(data) || identical(match.fun(na.action), stats::na.fail))) more$missing <- "error"
    expressions <- list(weights = substitute(weights), offset = substitute(offset), subset = substitute(subset))
    arguments <- row_arguments(expressions, more, data, contrasts, na.action, formula)
    made <- c(list(call = call, formula = formula, family = family), input_rows(formula, data, arguments))
    made$rstanarm <- as_rstanarm
    made$said <- stats::setNames(expressions[arguments$part], names(arguments$own))
    made$word <- if (is.null(family)) likely_family(made, more) else family_name(family, formula, made$rows)
    fit <- run_sampler(made, c(list(prior = prior, prior_intercept = prior_intercept, seed = seed, ess = ess), arguments$names, more), ranef, progress)
    issue_warnings(fit)
    fit
}

# Runs the sampler and returns the fit.
run_sampler <- function(made, given, ranef, progress) {
    rows <- made$rows
    own <- if (inherits(made$family, "sbps_model")) made$family
    given <- c(list(formula = made$text, family = if (is.null(own) && !is.null(made$family)) made$word), if (!is.null(own)) list(threads = 1), given)
    if (!isTRUE(ranef)) given$ranef <- if (isFALSE(ranef)) "none" else ranef
    kept <- output_path(given, rows)
    given <- options_of(priors_given(given, made))
    path <- tempfile("sbps", fileext = ".nc")
    on.exit(unlink(path))
    report <- result_or_error(.Call(r_sample, rows, colnames(rows), given, command_of(made$call), c(path, kept), isTRUE(progress), model_argument(own)))
    made$data <- rows
    if (is.null(made$family)) {
        reason <- chosen_family(report$description)
        message("family ", gsub("--family gaussian", "family = gaussian()", reason, fixed = TRUE))
        made$word <- sub(",.*", "", reason)
        made$family <- if (made$word == "gaussian") stats::gaussian() else stats::binomial()
    }
    fit_of(path, report, c(made[setdiff(names(made), c("rows", "text", "rstanarm"))], list(options = given)))
}

# Names of columns that were computed here, which need no quotes.
recipe_names <- function(recipe) c(names(recipe$calls), unlist(lapply(recipe$codings, function(x) c(x$names, x$all))))

fit_of <- function(path, report, made) {
    draws <- result_or_error(.Call(r_draws, path))
    figures <- result_or_error(.Call(r_parameters, path))
    kinds <- attr(figures, "part")
    attr(figures, "part") <- NULL
    called <- stripped(rownames(figures), made$recipe)
    rownames(figures) <- make.unique(called)
    dimnames(draws) <- list(NULL, NULL, rownames(figures))
    bytes <- readBin(path, "raw", file.size(path))
    structure(c(made, report, list(draws = draws, figures = figures, called = called, part = parameter_parts(kinds, made$word, called), run = bytes)), class = "sbps")
}

# Issues the warning of the command line as a warning of R: at most one.
issue_warnings <- function(fit) {
    if (nzchar(fit$notes) && is.character(fit$data)) message(trimws(fit$notes))
    parts <- c(if (fit$interrupted) "interrupted: the fit has the draws so far", if (nzchar(fit$warning)) fit$warning)
    if (length(parts)) warning(paste(parts, collapse = "; "), "; see diagnose()", call. = FALSE)
}

update.sbps <- function(object, formula. = NULL, ..., evaluate = TRUE) {
    call <- object$call
    if (!is.null(formula.)) call$formula <- update.formula(object$formula, formula.)
    more <- match.call(expand.dots = FALSE)$...
    for (name in names(more)) call[[name]] <- more[[name]]
    if (evaluate) eval(call, parent.frame()) else call
}
