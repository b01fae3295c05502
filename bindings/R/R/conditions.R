# The library's sentences as conditions: class sbps_bad_arg, sbps_bad_data, ..., then sbps_error.
raise <- function(status, sentence, call = NULL) {
    stop(structure(class = c(tolower(status), "sbps_error", "error", "condition"), list(message = sentence, call = call)))
}

# What a routine answers, unless it failed.
answer <- function(value) {
    if (inherits(value, "sbps_failure")) raise(attr(value, "status"), as.character(unclass(value)))
    value
}
