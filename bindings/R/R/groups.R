# Group effects, their standard deviations and correlations, by the names of parameters.
effect_name <- function(names, of_column) if (of_column) names else sub("^Intercept$", "(Intercept)", names)

# Whether effects called Intercept are of a column of that name.
intercept_is_column <- function(formula) "Intercept" %in% unlist(lapply(bars_of(formula[[3]]), function(bar) all.vars(bar[[2]])))

# Names of groups as the library has them: of g/h g and g:h.
groups_of <- function(x) {
    if (is_call_of(x, "(")) return(groups_of(x[[2]]))
    if (!is_call_of(x, c("/", ":"))) return(bare(text_of_call(x)))
    left <- groups_of(x[[2]])
    right <- groups_of(x[[3]])
    both <- c(outer(left, right, paste, sep = ":"), outer(right, left, paste, sep = ":"))
    if (is_call_of(x, "/")) c(left, both) else both
}

# The longest of these with which a text begins, or ends.
longest <- function(text, candidates, matches) {
    found <- candidates[matches(text, candidates)]
    if (length(found)) found[which.max(nchar(found))] else NA_character_
}

# sd_GROUP__COLUMN as a table.
spread_table <- function(fit) {
    names <- fit$called[parts_of(fit) == "sd"]
    groups <- unlist(lapply(bars_of(fit$formula[[3]]), function(bar) groups_of(bar[[3]])))
    group <- vapply(names, longest, "", groups, function(text, x) startsWith(text, paste0("sd_", x, "__")), USE.NAMES = FALSE)
    group <- ifelse(is.na(group), sub("^sd_(.+?)__.*$", "\\1", names, perl = TRUE), group)
    data.frame(group = group, column = substr(names, nchar(group) + 6, nchar(names)))
}

# r_GROUP[level,COLUMN] as a table: levels and columns may hold commas.
effects_table <- function(fit) {
    names <- fit$called[parts_of(fit) == "effect"]
    group <- sub("^r_(.+?)\\[.*$", "\\1", names, perl = TRUE)
    inside <- substr(names, nchar(group) + 4, nchar(names) - 1)
    columns <- unique(spread_table(fit)$column)
    column <- vapply(inside, longest, "", columns, function(text, x) endsWith(text, paste0(",", x)), USE.NAMES = FALSE)
    column <- ifelse(is.na(column), sub("^.*,", "", inside), column)
    data.frame(group = group, level = substr(inside, 1, nchar(inside) - nchar(column) - 1), column = effect_name(column, intercept_is_column(fit$formula)))
}

ranef.sbps <- function(object, ...) {
    own <- parts_of(object) == "effect"
    if (!any(own)) raise("SBPS_BAD_ARG", "the fit has no draws of effects of groups: they need (1 | g) in the formula, and ranef = \"all\" if there are many")
    about <- effects_table(object)
    about$value <- object$figures[own, "q50"]
    lapply(split(about, factor(about$group, unique(about$group))), effects_frame)
}

effects_frame <- function(about) {
    levels <- unique(about$level)
    columns <- unique(about$column)
    values <- lapply(columns, function(column) {
        mine <- about[about$column == column, ]
        mine$value[match(levels, mine$level)]
    })
    structure(values, names = columns, row.names = levels, class = "data.frame")
}

# The posterior mean of a parameter as summary(fit) shows it; 0: there is no such parameter.
mean_called <- function(fit, name, part) {
    own <- which(parts_of(fit) == part & fit$called == name)
    if (length(own)) fit$figures[[own[1], "mean"]] else 0
}

# Standard deviations and correlations of a group's effects are posterior means, those of summary(fit); variances are squares of these
# standard deviations, covariances their products with the correlations.
covariance_of <- function(fit, group, columns) {
    names <- effect_name(columns, intercept_is_column(fit$formula))
    sd <- stats::setNames(vapply(paste0("sd_", group, "__", columns), function(name) mean_called(fit, name, "sd"), 1), names)
    correlation <- diag(length(columns))
    dimnames(correlation) <- list(names, names)
    for (a in seq_along(columns)) {
        for (b in seq_len(a - 1)) {
            correlation[a, b] <- correlation[b, a] <- mean_called(fit, paste0("cor_", group, "__", columns[b], "__", columns[a]), "cor")
        }
    }
    structure(correlation * outer(sd, sd), stddev = sd, correlation = correlation)
}

VarCorr.sbps <- function(x, sigma = 1, ...) {
    about <- spread_table(x)
    if (!nrow(about)) raise("SBPS_BAD_ARG", "the fit has no groups")
    columns <- split(about$column, factor(about$group, unique(about$group)))
    out <- Map(function(columns, group) covariance_of(x, group, columns), columns, names(columns))
    left <- if (any(parts_of(x) == "auxiliary" & x$called == "sigma")) mean_called(x, "sigma", "auxiliary")
    structure(out, sc = left, useSc = !is.null(left), class = "VarCorr.sbps")
}

print.VarCorr.sbps <- function(x, digits = 3, ...) {
    rows <- do.call(rbind, Map(function(m, group) {
        r <- format(round(attr(m, "correlation"), 2), nsmall = 2)
        r[upper.tri(r, diag = TRUE)] <- ""
        data.frame(Groups = c(group, rep("", nrow(m) - 1)), Name = rownames(m), Std.Dev. = attr(m, "stddev"), Corr = apply(r, 1, paste, collapse = " "))
    }, unclass(x), names(x)))
    if (!is.null(attr(x, "sc"))) rows <- rbind(rows, data.frame(Groups = "Residual", Name = "", Std.Dev. = attr(x, "sc"), Corr = ""))
    if (!any(nzchar(trimws(rows$Corr)))) rows$Corr <- NULL
    print(rows, row.names = FALSE, digits = digits)
    invisible(x)
}

# lme4's layout: variances of a group, then its covariances, then the residual.
as.data.frame.VarCorr.sbps <- function(x, row.names = NULL, optional = FALSE, order = c("cov.last", "lower.tri"), ...) {
    order <- match.arg(order)
    of_group <- function(m, group) {
        at <- which(lower.tri(m, diag = TRUE), arr.ind = TRUE)
        if (order == "cov.last") at <- rbind(at[at[, 1] == at[, 2], , drop = FALSE], at[at[, 1] != at[, 2], , drop = FALSE])
        own <- at[, 1] == at[, 2]
        data.frame(grp = group, var1 = rownames(m)[at[, 2]], var2 = ifelse(own, NA, rownames(m)[at[, 1]]), vcov = m[at],
                   sdcor = ifelse(own, attr(m, "stddev")[at[, 1]], attr(m, "correlation")[at]), stringsAsFactors = FALSE)
    }
    out <- do.call(rbind, Map(of_group, unclass(x)[names(x)], names(x)))
    left <- attr(x, "sc")
    if (!is.null(left)) out <- rbind(out, data.frame(grp = "Residual", var1 = NA, var2 = NA, vcov = left^2, sdcor = left))
    rownames(out) <- row.names
    out
}
