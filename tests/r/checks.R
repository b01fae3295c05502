# Shared by the scripts of this folder, which run in a temporary folder with the package installed.
failures <- 0
check_that <- function(what, true) {
    if (isTRUE(true)) return(invisible())
    failures <<- failures + 1
    cat("failed:", what, "\n")
}
is_installed <- function(package) requireNamespace(package, quietly = TRUE)
condition_of <- function(expression) tryCatch(expression, error = identity)
refused <- function(what, class, words, expression) {
    e <- condition_of(expression)
    good <- inherits(e, "sbps_error") && inherits(e, class) && grepl(words, conditionMessage(e), fixed = TRUE)
    if (!good) cat("got", class(e), if (inherits(e, "error")) conditionMessage(e), "\n")
    check_that(what, good)
}
near <- function(a, b, within = 1e-6) is.numeric(a) && identical(dim(a), dim(b)) && length(a) == length(b) && max(abs(a - b)) <= within
end <- function() {
    cat(failures, "failures\n")
    quit(status = failures > 0)
}
