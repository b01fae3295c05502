# Effects of groups, their standard deviations and correlations, from the names of parameters.
effect_name <- function(names) sub("^Intercept$", "(Intercept)", names)

# r_GROUP[level,COLUMN]: a level may hold commas, a column of a design may not.
effects_table <- function(names) {
    group <- sub("^r_(.+?)\\[.*$", "\\1", names, perl = TRUE)
    inside <- substr(names, nchar(group) + 4, nchar(names) - 1)
    data.frame(group = group, level = sub(",[^,]*$", "", inside), column = effect_name(sub("^.*,", "", inside)))
}

ranef.sbps <- function(object, ...) {
    own <- parts_of(object) == "effect"
    if (!any(own)) raise("SBPS_BAD_ARG", "the fit has no effects of groups: they need (1 | g) in the formula and ranef = TRUE")
    about <- effects_table(rownames(object$figures)[own])
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
covariance_of <- function(draws, group, columns) {
    sd <- draws[, paste0("sd_", group, "__", columns), drop = FALSE]
    out <- matrix(0, length(columns), length(columns), dimnames = list(effect_name(columns), effect_name(columns)))
    for (a in seq_along(columns)) {
        for (b in seq_len(a)) {
            cor <- paste0("cor_", group, "__", columns[b], "__", columns[a])
            r <- if (a == b) 1 else if (cor %in% colnames(draws)) draws[, cor] else 0
            out[a, b] <- out[b, a] <- mean(sd[, a] * sd[, b] * r)
        }
    }
    structure(out, stddev = colMeans(sd), correlation = stats::cov2cor(out))
}

VarCorr.sbps <- function(x, sigma = 1, ...) {
    draws <- as.matrix(x)
    names <- colnames(draws)[parts_of(x) == "sd"]
    if (!length(names)) raise("SBPS_BAD_ARG", "the fit has no groups")
    group <- sub("^sd_(.+?)__.*$", "\\1", names, perl = TRUE)
    column <- substr(names, nchar(group) + 6, nchar(names))
    out <- lapply(split(column, factor(group, unique(group))), identity)
    out <- Map(function(columns, group) covariance_of(draws, group, columns), out, names(out))
    structure(out, sc = if ("sigma" %in% colnames(draws)) mean(draws[, "sigma"]), class = "VarCorr.sbps")
}

print.VarCorr.sbps <- function(x, digits = 3, ...) {
    rows <- do.call(rbind, Map(function(m, group) {
        data.frame(Groups = c(group, rep("", nrow(m) - 1)), Name = rownames(m), Std.Dev. = attr(m, "stddev"))
    }, unclass(x), names(x)))
    if (!is.null(attr(x, "sc"))) rows <- rbind(rows, data.frame(Groups = "Residual", Name = "", Std.Dev. = attr(x, "sc")))
    print(rows, row.names = FALSE, digits = digits)
    invisible(x)
}
