# JSON as the library writes it: objects become lists, arrays of numbers or strings vectors, null NA.
json_tokens <- function(text) {
    pattern <- "\"(\\\\.|[^\"\\\\])*\"|-?[0-9]+(\\.[0-9]+)?([eE][-+]?[0-9]+)?|true|false|null|[][{}:,]"
    regmatches(text, gregexpr(pattern, text, perl = TRUE))[[1]]
}

json_string <- function(token) {
    inside <- substr(token, 2, nchar(token) - 1)
    eval(parse(text = paste0("\"", gsub("\\/", "/", inside, fixed = TRUE), "\""), keep.source = FALSE)[[1]])
}

json_scalar <- function(token) {
    switch(substr(token, 1, 1), "\"" = json_string(token), t = TRUE, f = FALSE, n = NA, as.numeric(token))
}

json_simplified <- function(items) {
    plain <- vapply(items, function(x) is.atomic(x) && length(x) == 1, NA)
    if (length(items) && all(plain)) unlist(items) else items
}

parse_json <- function(text) {
    tokens <- json_tokens(text)
    at <- 1
    read <- function() {
        token <- tokens[at]
        at <<- at + 1
        if (!token %in% c("{", "[")) return(json_scalar(token))
        close <- if (token == "{") "}" else "]"
        items <- list()
        while (tokens[at] != close) {
            if (tokens[at] == ",") at <<- at + 1
            name <- NULL
            if (token == "{") {
                name <- json_string(tokens[at])
                at <<- at + 2
            }
            items <- c(items, stats::setNames(list(read()), name))
        }
        at <<- at + 1
        if (token == "[") json_simplified(items) else items
    }
    read()
}
