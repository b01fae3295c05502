# Scripts of users of rstanarm with the name of the package changed: scripts_by_hand.R FOLDER [PACKAGE]. A script runs without an error, or is
# refused where its first line says so. Where side/scripts.csv has coefficients by rstanarm, medians are within a quarter of a
# posterior standard deviation of them. With PACKAGE = rstanarm the scripts run by it, and side/scripts.csv is written.
arguments <- commandArgs(TRUE)
source(file.path(arguments[1], "checks.R"))
package <- if (length(arguments) > 1) arguments[2] else "sbps"
files <- sort(list.files(file.path(arguments[1], "scripts"), "\\.R$", full.names = TRUE))
recorded <- file.path(arguments[1], "side", "scripts.csv")
reference <- if (package == "sbps") read.csv(recorded)
pdf(NULL)

fixed_effects <- function(fit) if (inherits(fit, "lmerMod") || is.list(coef(fit))) fixef(fit) else coef(fit)
run <- function(file) {
    code <- readLines(file)
    expected <- sub("^# expected: refused: ", "", grep("^# expected: refused: ", code[1], value = TRUE))
    if (package != "sbps" && length(expected)) return(NULL)
    if (package != "sbps") code <- gsub("iter = [0-9]+", "iter = 6000", gsub("chains = [0-9]", "chains = 4", code)) # long runs
    code <- sub("library(rstanarm)", sprintf("library(%s)", package), code, fixed = TRUE)
    needs <- unique(unlist(regmatches(code, gregexpr("[A-Za-z0-9]+(?=::)", code, perl = TRUE))))
    lacking <- Filter(Negate(is_installed), c(needs, if (any(grepl("loo|pp_check|posterior_vs_prior", code))) c("loo", "bayesplot")))
    name <- sub("\\.R$", "", basename(file))
    if (length(lacking)) {
        cat(lacking[1], "is not installed:", name, "is left out\n")
        return(NULL)
    }
    space <- if (package == "sbps") new.env(parent = globalenv()) else globalenv()
    value <- condition_of(suppressWarnings(suppressMessages(utils::capture.output(for (each in parse(text = code, keep.source = FALSE)) print(eval(each, space))))))
    if (length(expected)) {
        check_that(paste(name, "is refused"), inherits(value, "sbps_error") && grepl(expected, conditionMessage(value), fixed = TRUE))
        return(NULL)
    }
    if (inherits(value, "error")) cat("got", conditionMessage(value), "\n")
    check_that(name, !inherits(value, "error"))
    if (inherits(value, "error") || is.null(space$fit)) return(NULL)
    draws <- as.matrix(space$fit)
    own <- fixed_effects(space$fit)
    data.frame(script = name, parameter = names(own), median = unname(own), sd = apply(draws[, names(own), drop = FALSE], 2, sd), row.names = NULL)
}
found <- do.call(rbind, lapply(files, run))
check_that("twenty scripts", length(files) >= 20)
if (package != "sbps") {
    found[3:4] <- lapply(found[3:4], signif, 5)
    write.csv(found, recorded, row.names = FALSE, quote = 2)
    end()
}
both <- merge(found, reference, by = c("script", "parameter"), suffixes = c("", ".theirs"))
check_that("the same coefficients", nrow(both) == nrow(reference[reference$script %in% found$script, ]))
for (name in unique(both$script)) {
    rows <- both[both$script == name, ]
    off <- max(abs(rows$median - rows$median.theirs) / rows$sd.theirs)
    cat(sprintf("%-28s %2d coefficients within %.2f posterior sd of rstanarm's\n", name, nrow(rows), off))
    check_that(paste(name, "near rstanarm"), off < if (grepl("ordered", name)) 0.5 else 0.25) # of ordered outcomes the priors differ
}
end()
