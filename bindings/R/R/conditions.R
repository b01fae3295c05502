# The library's errors as conditions: class sbps_bad_arg, sbps_bad_data, ..., then sbps_error.
raise <- function(status, message, call = NULL) {
    stop(structure(class = c(tolower(status), "sbps_error", "error", "condition"), list(message = message, call = call)))
}

# The value of a C routine. Raises its error if it failed.
result_or_error <- function(value) {
    if (inherits(value, "sbps_failure")) raise(attr(value, "status"), as.character(unclass(value)))
    value
}
