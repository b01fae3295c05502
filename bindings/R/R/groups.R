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
    if (!any(own)) raise("SBPS_BAD_ARG", "the fit has no effects of groups: they need (1 | g) in the formula and ranef = TRUE")
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

# Covariances of a group's effects: means over draws of sd_a sd_b cor_ab.
covariance_of <- function(fit, group, columns) {
    draws_called <- function(name, part) {
        own <- which(parts_of(fit) == part & fit$called == name)
        if (length(own)) as.vector(fit$draws[, , own[1]]) else 0
    }
    sd <- lapply(paste0("sd_", group, "__", columns), draws_called, "sd")
    names <- effect_name(columns, intercept_is_column(fit$formula))
    out <- matrix(0, length(columns), length(columns), dimnames = list(names, names))
    for (a in seq_along(columns)) {
        for (b in seq_len(a)) {
            r <- if (a == b) 1 else draws_called(paste0("cor_", group, "__", columns[b], "__", columns[a]), "cor")
            out[a, b] <- out[b, a] <- mean(sd[[a]] * sd[[b]] * r)
        }
    }
    stddev <- stats::setNames(vapply(sd, mean, 1), paste0("sd_", group, "__", columns))
    structure(out, stddev = stddev, correlation = stats::cov2cor(out))
}

VarCorr.sbps <- function(x, sigma = 1, ...) {
    about <- spread_table(x)
    if (!nrow(about)) raise("SBPS_BAD_ARG", "the fit has no groups")
    columns <- split(about$column, factor(about$group, unique(about$group)))
    out <- Map(function(columns, group) covariance_of(x, group, columns), columns, names(columns))
    left <- auxiliary_draws(x, "sigma")
    structure(out, sc = if (!is.null(left)) mean(left), class = "VarCorr.sbps")
}

print.VarCorr.sbps <- function(x, digits = 3, ...) {
    rows <- do.call(rbind, Map(function(m, group) {
        data.frame(Groups = c(group, rep("", nrow(m) - 1)), Name = rownames(m), Std.Dev. = attr(m, "stddev"))
    }, unclass(x), names(x)))
    if (!is.null(attr(x, "sc"))) rows <- rbind(rows, data.frame(Groups = "Residual", Name = "", Std.Dev. = attr(x, "sc")))
    print(rows, row.names = FALSE, digits = digits)
    invisible(x)
}
