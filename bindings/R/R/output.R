# The output file of a run. What `sbps sample -o` refuses is refused here, before the run.
endings <- c(".nc", ".stan.csv", ".csv")

# The files of an output path: Stan's format has one per chain.
output_files <- function(path, chains) {
    if (endsWith(path, ".stan.csv")) sprintf("%s_%d.csv", substr(path, 1, nchar(path) - 4), seq_len(chains)) else path
}

check_output_file <- function(path, rows, others) {
    where <- dirname(path)
    if (dir.exists(path)) raise("SBPS_NO_FILE", sprintf("output: %s is a directory", path))
    if (!dir.exists(where)) raise("SBPS_NO_FILE", sprintf("output: cannot write %s: there is no directory %s", path, where))
    if (file.access(where, 2) != 0) raise("SBPS_NO_FILE", sprintf("output: cannot write %s: the directory %s cannot be written to", path, where))
    data <- if (is.character(rows)) unlist(lapply(strsplit(rows, "\n", fixed = TRUE)[[1]], function(name) c(name, Sys.glob(name))))
    state <- .Call(r_output_state, path, as.character(data), as.character(others))
    if (state == "data") raise("SBPS_BAD_ARG", sprintf("output: %s is the data file: choose another name", path))
    if (state == "other") raise("SBPS_BAD_ARG", sprintf("output: %s is also the file of another option: choose another name", path))
    if (state == "strange") raise("SBPS_NO_FILE", sprintf("output: %s exists and is not a run of sbps: choose another name, or remove it", path))
}

# The path of the option `output`; NULL: none.
output_path <- function(given, rows) {
    path <- given$output
    if (is.null(path)) return(NULL)
    if (!is.character(path) || length(path) != 1 || is.na(path) || !nzchar(path)) raise("SBPS_BAD_ARG", "output: expected the name of a file")
    if (!any(endsWith(path, endings))) raise("SBPS_BAD_ARG", sprintf("output: '%s' has an unknown ending: use .nc, .csv or .stan.csv", path))
    path <- path.expand(path)
    chains <- if (is.null(given$chains)) 4 else as.numeric(given$chains)
    others <- unlist(given[intersect(names(given), c("checkpoint", "skeleton", "trace", "resume", "start", "covariance", "config", "ranef"))])
    for (file in output_files(path, chains)) check_output_file(file, rows, path.expand(as.character(others)))
    path
}
