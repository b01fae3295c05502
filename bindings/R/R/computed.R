# Columns that R computes from calls in a formula, for the rows of a fit and for new rows. As in lm, statistics of all rows of the fit,
# such as knots or a mean, become constants of the call for new rows, by stats::makepredictcall.

differ <- function(name, values, rows) {
    raise("SBPS_BAD_DATA", sprintf("variable lengths differ: '%s' has %.0f values for %.0f rows", name, values, rows))
}

check_lengths <- function(columns, rows) {
    for (name in names(columns)) if (NROW(columns[[name]]) != rows) differ(name, NROW(columns[[name]]), rows)
}

# Rows of a data frame or a matrix; of a list by its first column. NA: no columns.
count_rows <- function(data) {
    if (is.data.frame(data) || is.matrix(data)) nrow(data) else if (length(data)) NROW(data[[1]]) else NA
}

# Makes bs and ns available without library(splines), as in formulas of the command line.
with_splines <- function(env) {
    if (exists("bs", env, mode = "function") && exists("ns", env, mode = "function")) return(env)
    own <- new.env(parent = env)
    if (!exists("bs", env, mode = "function")) own$bs <- splines::bs
    if (!exists("ns", env, mode = "function")) own$ns <- splines::ns
    own
}

# The function that a call names, with or without its package.
name_of_call <- function(x) {
    head <- x[[1]]
    if (is_call_of(head, c("::", ":::"))) as.character(head[[3]]) else if (is.name(head)) as.character(head) else ""
}

# cut(x, 3) has intervals of equal width between the smallest and the largest value. Writes these breaks into the call, as cut.default.
write_breaks <- function(call, data, env) {
    whole <- tryCatch(match.call(cut_arguments, call), error = function(e) NULL)
    if (is.null(whole$breaks)) return(call)
    breaks <- eval(whole$breaks, data, env)
    x <- eval(whole$x, data, env)
    if (!is.numeric(breaks) || length(breaks) != 1 || !is.numeric(x)) return(call)
    limits <- range(x, na.rm = TRUE)
    whole$breaks <- seq.int(limits[1], limits[2], length.out = as.integer(breaks) + 1)
    whole$breaks[c(1, length(whole$breaks))] <- limits + c(-1, 1) * diff(limits) / 1000
    whole
}
cut_arguments <- function(x, breaks, labels, include.lowest, right, dig.lab, ordered_result, ...) NULL

write_constants <- function(call, value, data, env) {
    if (name_of_call(call) == "cut" && is.factor(value)) return(write_breaks(call, data, env))
    later <- stats::makepredictcall(value, call)
    if (name_of_call(call) != "scale" || !identical(later, call)) return(later)
    for (part in c("center", "scale")) {
        constant <- attr(value, paste0("scaled:", part))
        later[[part]] <- if (is.null(constant)) FALSE else constant
    }
    later
}

# Functions whose value for a row depends on that row only. Constants are written into their arguments.
of_one_row <- c(setdiff(known_functions, c("scale", "poly", "bs", "ns", "factor", "relevel", "cut", "offset")), "pmin", "pmax", "ifelse", "as.numeric",
                "as.vector", "round", "==", "!=", "<", "<=", ">", ">=", "&", "!")

# The call with the constants of the calls inside it.
fix_inner_constants <- function(call, data, env) {
    if (name_of_call(call) %in% c("function", "~", "with", "local", "quote")) return(call)
    for (k in seq_along(call)[-1]) {
        if (!is.call(call[[k]])) next
        inner <- fix_inner_constants(call[[k]], data, env)
        if (!name_of_call(inner) %in% of_one_row) {
            value <- tryCatch(eval(call[[k]], data, env), error = function(e) NULL)
            if (!is.null(value)) inner <- write_constants(inner, value, data, env)
        }
        call[[k]] <- inner
    }
    call
}

# The call for new rows, given its `value` for the fit's rows.
new_data_call <- function(call, value, data, env) {
    inside <- fix_inner_constants(call, data, env)
    if (!identical(inside, call)) {
        same <- tryCatch(isTRUE(all.equal(eval(inside, data, env), value)), error = function(e) FALSE)
        if (same) call <- inside
    }
    write_constants(call, value, data, env)
}

# True if a row's value depends on the other rows: values are computed again from the second half of the rows.
depends_on_rows <- function(later, value, data, rows, env) {
    half <- seq.int(rows %/% 2 + 1, length.out = rows - rows %/% 2)
    if (rows < 4) return(FALSE)
    again <- tryCatch(suppressWarnings(eval(later, select_rows(data, half), env)), error = function(e) NULL)
    if (is.null(again) || NROW(again) != length(half)) return(FALSE)
    plain <- function(x) if (is.factor(x)) as.character(x) else as.vector(x)
    !isTRUE(all.equal(plain(select_rows(list(value), half)[[1]]), plain(again), tolerance = 1e-9))
}

# The recipe of a formula for new rows: its calls, the columns that they need, the calls in the response, and the calls whose values
# depend on other rows.
recipe_of <- function(formula, calls, values, data, rows, env) {
    later <- Map(function(call, value) new_data_call(call, value, data, env), calls, values)
    of_left <- text_of_call(formula[[2]])
    right <- formula
    right[[2]] <- quote(y)
    needs <- lapply(calls, function(x) intersect(all.vars(x), names(data)))
    used <- data[unique(unlist(needs))]
    depends <- if (is.na(rows)) character() else names(Filter(isTRUE, Map(function(x, value) depends_on_rows(x, value, used, rows, env), later, values)))
    list(calls = later, needs = needs, response = setdiff(intersect(names(calls), of_left), names(computed_calls(right, character()))), depends = depends)
}

# The computed columns of new rows.
compute_new <- function(recipe, data, rows, env) {
    out <- list()
    for (name in names(recipe$calls)) {
        lacking <- setdiff(recipe$needs[[name]], names(data))
        if (length(lacking) && name %in% recipe$response) next
        if (length(lacking)) raise("SBPS_BAD_DATA", sprintf("newdata: no column '%s', which '%s' needs", lacking[1], name))
        value <- eval(recipe$calls[[name]], data, env)
        if (NROW(value) != rows) differ(name, NROW(value), rows)
        out[[name]] <- value
        if (name %in% recipe$depends) {
            warning(sprintf("newdata: the values of '%s' depend on the other rows; they are computed from the new rows only", name), call. = FALSE)
        }
    }
    out
}
