# Functions of parameters, hypotheses, checks and scores.

# Posteriors of expressions, by the library: docs/contrast.md.
contrast.sbps <- function(object, ...) {
    expressions <- unlist(list(...))
    if (!is.character(expressions) || anyNA(expressions)) raise("SBPS_BAD_ARG", "contrast: expected expressions of parameters as text, such as \"wt - hp\"")
    text <- result_or_error(with_run_file(object, function(run) .Call(r_contrast, run, library_names(object, unname(expressions)))))
    out <- read.csv(text = text, check.names = FALSE)
    out[[1]] <- unname(expressions)
    rownames(out) <- if (is.null(names(expressions))) NULL else names(expressions)
    out
}

# ---- expressions of parameters ----

functions_of_parameters <- list(logit = stats::qlogis, inv_logit = stats::plogis, plogis = stats::plogis, qlogis = stats::qlogis, min = pmin, max = pmax)

# Places of names in a text, the longest at each place, and not inside of other words. `f` replaces a name.
replace_names <- function(text, names, f) {
    names <- names[order(-nchar(names))]
    out <- ""
    word <- "[[:alnum:]_.]"
    while (nzchar(text)) {
        after <- substring(text, nchar(names) + 1, nchar(names) + 1)
        before <- substring(out, nchar(out))
        ends <- !(grepl(paste0(word, "$"), names) & grepl(word, after)) & after != "("
        found <- names[startsWith(text, names) & ends & !(grepl(word, before) & grepl(paste0("^", word), names))]
        quoted <- regmatches(text, regexpr("^`[^`]*`", text))
        if (length(quoted)) {
            own <- substr(quoted, 2, nchar(quoted) - 1)
            out <- paste0(out, if (own %in% names) f(own) else quoted)
            text <- substring(text, nchar(quoted) + 1)
        } else if (length(found)) {
            out <- paste0(out, f(found[1]))
            text <- substring(text, nchar(found[1]) + 1)
        } else {
            out <- paste0(out, substr(text, 1, 1))
            text <- substring(text, 2)
        }
    }
    out
}

# Expressions with the library's names in place of R's, where these differ.
library_names <- function(fit, expressions) {
    ours <- rownames(fit$figures)
    theirs <- result_or_error(with_run_file(fit, function(run) .Call(r_parameters, run)))
    theirs <- rownames(theirs)
    if (identical(ours, theirs)) return(expressions)
    vapply(expressions, replace_names, "", ours, function(name) quoted(theirs[match(name, ours)]), USE.NAMES = FALSE)
}

# The draws of an expression.
expression_draws <- function(fit, text, what) {
    draws <- as.matrix(fit)
    holders <- stats::setNames(sprintf(".p%d", seq_len(ncol(draws))), colnames(draws))
    named <- replace_names(text, colnames(draws), function(name) holders[[name]])
    code <- tryCatch(parse(text = named, keep.source = FALSE), error = function(e) NULL)
    if (length(code) != 1) raise("SBPS_BAD_ARG", sprintf("%s: '%s' is not an expression of parameters", what, text))
    strange <- setdiff(all.vars(code[[1]]), c(holders, "pi"))
    if (length(strange)) {
        raise("SBPS_BAD_ARG", sprintf("%s: there is no parameter '%s' (parameters: %s)", what, strange[1], paste(utils::head(colnames(draws), 8), collapse = ", ")))
    }
    used <- holders[holders %in% all.vars(code[[1]])]
    values <- lapply(stats::setNames(names(used), used), function(name) draws[, name])
    out <- eval(code[[1]], c(values, functions_of_parameters), baseenv())
    if (!is.numeric(out)) raise("SBPS_BAD_ARG", sprintf("%s: '%s' is not a number", what, text))
    rep_len(as.double(out), nrow(draws))
}

# ---- hypotheses, as in brms ----

density_at_zero <- function(x) {
    smooth <- stats::density(x, n = 4096, from = min(x, 0) - 3 * stats::bw.nrd0(x), to = max(x, 0) + 3 * stats::bw.nrd0(x))
    stats::approx(smooth$x, smooth$y, 0)$y
}

sides_of <- function(text) {
    sign <- regmatches(text, regexpr("<|>|=", text))
    sides <- strsplit(text, "[<>=]")[[1]]
    if (length(sign) != 1 || length(sides) != 2 || any(!nzchar(trimws(sides)))) {
        raise("SBPS_BAD_ARG", sprintf("hypothesis: '%s': expected one <, > or = between two expressions, as in \"wt > 0\"", text))
    }
    list(sign = sign, text = sprintf("(%s) - (%s)", trimws(sides[1]), trimws(sides[2])), label = sprintf("(%s)-(%s) %s 0", trimws(sides[1]), trimws(sides[2]), sign))
}

# The ratio of the posterior odds: of a direction, P(true)/P(false); of an equality, the ratio of the densities of the posterior and the
# prior at it (Savage and Dickey), which needs draws of the prior.
evidence_ratio <- function(draws, sign, prior_draws) {
    if (sign == "=") return(if (is.null(prior_draws)) NA_real_ else density_at_zero(draws) / density_at_zero(prior_draws))
    true <- mean(if (sign == ">") draws > 0 else draws < 0)
    true / (1 - true)
}

hypothesis.sbps <- function(x, hypothesis, alpha = 0.05, prior = NULL, ...) {
    no_further_arguments(...)
    if (!is.character(hypothesis) || !length(hypothesis)) raise("SBPS_BAD_ARG", "hypothesis: expected text such as \"wt > 0\"")
    if (!is.numeric(alpha) || length(alpha) != 1 || !(alpha > 0 && alpha < 0.5)) raise("SBPS_BAD_ARG", "alpha: expected a number between 0 and 0.5")
    if (!is.null(prior) && !inherits(prior, "sbps")) raise("SBPS_BAD_ARG", "prior: expected a fit of the prior, as update(fit, prior_only = TRUE) makes it")
    all <- lapply(hypothesis, function(text) {
        sides <- sides_of(text)
        draws <- expression_draws(x, sides$text, "hypothesis")
        tails <- if (sides$sign == "=") c(alpha / 2, 1 - alpha / 2) else c(alpha, 1 - alpha)
        limits <- unname(quantile(draws, tails))
        ratio <- evidence_ratio(draws, sides$sign, if (!is.null(prior)) expression_draws(prior, sides$text, "prior"))
        probability <- if (is.infinite(ratio) && !is.na(ratio)) 1 else ratio / (1 + ratio)
        star <- if (sides$sign == "=") limits[1] > 0 || limits[2] < 0 else probability > 1 - alpha
        row <- data.frame(Hypothesis = sides$label, Estimate = mean(draws), Est.Error = stats::sd(draws), CI.Lower = limits[1], CI.Upper = limits[2],
                          Evid.Ratio = ratio, Post.Prob = probability, Star = if (isTRUE(star)) "*" else "")
        list(row = row, draws = draws)
    })
    table <- do.call(rbind, lapply(all, `[[`, "row"))
    if (!is.null(names(hypothesis))) table$Hypothesis <- ifelse(nzchar(names(hypothesis)), names(hypothesis), table$Hypothesis)
    samples <- as.data.frame(stats::setNames(lapply(all, `[[`, "draws"), paste0("H", seq_along(all))))
    structure(list(hypothesis = table, samples = samples, alpha = alpha), class = "sbps_hypothesis")
}

print.sbps_hypothesis <- function(x, digits = 2, ...) {
    table <- x$hypothesis
    numbers <- vapply(table, is.numeric, NA)
    table[numbers] <- lapply(table[numbers], round, digits = digits)
    print(table)
    cat(sprintf("Limits: %g%% intervals for < and >, %g%% for =. *: the hypothesis has more than %g%% of the draws, or 0 is outside of the interval.\n",
                100 * (1 - 2 * x$alpha), 100 * (1 - x$alpha), 100 * (1 - x$alpha)))
    if (any(is.na(x$hypothesis$Evid.Ratio))) cat("The evidence ratio of an equality needs prior = update(fit, prior_only = TRUE).\n")
    invisible(x)
}

# ---- checks and scores of the library: text for people, and its numbers ----

report_of <- function(fit, what, data, seed) {
    seed <- whole(seed, "seed")
    numbers <- parse_json(text_of(fit, paste0(what, "-json"), seed, rows = TRUE, data = data))
    structure(numbers, text = text_of(fit, what, seed, rows = TRUE, data = data), class = "sbps_numbers")
}

check.sbps <- function(object, data = NULL, seed = 1, ...) {
    no_further_arguments(...)
    report_of(object, "check", data, seed)
}

score.sbps <- function(object, newdata, seed = 1, ...) {
    no_further_arguments(...)
    if (missing(newdata)) raise("SBPS_BAD_ARG", "score: expected new rows with a known response; sbps_loo(fit) estimates the score of new rows from the fit's own")
    report_of(object, "score", newdata, seed)
}

print.sbps_numbers <- function(x, ...) {
    cat(attr(x, "text"))
    invisible(x)
}
