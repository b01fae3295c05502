# The models of side/models.R by sbps, against rstanarm's long runs (side/reference.csv): means within three standard errors of Monte
# Carlo, both runs' together; standard deviations likewise.
folder <- commandArgs(TRUE)[1]
source(file.path(folder, "checks.R"))
library(sbps)
source(file.path(folder, "side", "models.R"))
reference <- read.csv(file.path(folder, "side", "reference.csv"))
ours <- function(name) {
    call <- models[[name]]
    if (identical(call[[1]], quote(glmer))) call$prior_sd <- "exponential(1)"
    call[[1]] <- quote(sbps)
    call$ess <- 4000
    fit <- eval(call)
    figures <- summary(fit)
    figures[!grepl("^r_", rownames(figures)), , drop = FALSE]
}
for (name in names(models)) {
    if (name %in% names(needs) && !is_installed(needs[[name]])) {
        cat(needs[[name]], "is not there:", name, "is left out\n")
        next
    }
    theirs <- reference[reference$model == name, ]
    figures <- ours(name)
    check_that(paste(name, "names"), setequal(theirs$parameter, rownames(figures)))
    figures <- figures[match(theirs$parameter, rownames(figures)), , drop = FALSE]
    z <- abs(figures[, "mean"] - theirs$mean) / sqrt(figures[, "mcse"]^2 + theirs$mean_mcse^2)
    spread <- abs(figures[, "sd"] - theirs$sd) / sqrt(figures[, "sd"]^2 / (2 * figures[, "ess_tail"]) + theirs$sd_mcse^2)
    cat(sprintf("%-9s %2d parameters: means within %.1f, sds within %.1f standard errors of rstanarm's long run\n", name, nrow(theirs), max(z), max(spread)))
    check_that(paste(name, "means"), max(z) < 3)
    check_that(paste(name, "sds"), max(spread) < 3.5)
}
end()
