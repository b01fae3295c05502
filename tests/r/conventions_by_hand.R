# Every call of the R half of docs/conventions.md: conventions_by_hand.R FOLDER PAGE. A row says what happens now: "works", or "refused" with
# words of the message. Rows of packages that are not installed are named and skipped.
arguments <- commandArgs(TRUE)
source(file.path(arguments[1], "checks.R"))
suppressMessages(library(sbps))
page <- readLines(arguments[2], encoding = "UTF-8")
section <- page[seq(which(page == "## R"), length(page))]
others <- which(grepl("^## ", section[-1]))
if (length(others)) section <- section[seq_len(others[1])]
fences <- grep("^```", section)
set_up <- section[seq(fences[1] + 1, fences[2] - 1)]
rows <- grep("^\\| `", section, value = TRUE)
cells <- lapply(strsplit(gsub("\\|", "\001", rows, fixed = TRUE), "|", fixed = TRUE), function(x) gsub("\001", "|", trimws(x[-1]), fixed = TRUE))

pdf(NULL)
quiet <- function(expression) suppressWarnings(suppressMessages(expression))
table <- data.frame(call = gsub("^`|`$", "", vapply(cells, `[[`, "", 1)), package = vapply(cells, `[[`, "", 2), now = vapply(cells, `[[`, "", 4))
needed <- c(needs <- setdiff(unique(table$package), c("stats", "sbps", "rstanarm")))
there <- vapply(needed, function(name) requireNamespace(name, quietly = TRUE), NA)
for (name in needed[!there]) cat(name, "is not installed: its rows are left out\n")
space <- new.env(parent = globalenv())
quiet(eval(parse(text = set_up), space))
tried <- 0
for (k in seq_len(nrow(table))) {
    row <- table[k, ]
    if (row$package %in% needed[!there] || grepl("^untested", row$now)) next
    tried <- tried + 1
    value <- condition_of(quiet({
        out <- eval(parse(text = row$call), space)
        if (inherits(out, "ggplot")) print(out)
        out
    }))
    failed <- inherits(value, "error")
    if (grepl("^works", row$now)) {
        if (failed) cat("got", conditionMessage(value), "\n")
        check_that(paste(row$call, "works"), !failed && !is.null(value))
    } else {
        words <- sub("^refused: ", "", row$now)
        if (!failed || !grepl(words, conditionMessage(value), fixed = TRUE)) cat("got", class(value), if (failed) conditionMessage(value), "\n")
        check_that(paste(row$call, "is refused"), failed && inherits(value, "sbps_error") && startsWith(row$now, "refused: ") && grepl(words, conditionMessage(value), fixed = TRUE))
    }
}
cat(tried, "calls of", nrow(table), "\n")
check_that("the page has its calls", nrow(table) >= 35)
end()
