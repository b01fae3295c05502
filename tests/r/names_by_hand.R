# Runs in a temporary folder, with the package installed: names_by_hand.R FOLDER PROGRAM
# Names are those of model.matrix, and a model has the same names and numbers by the command line, R and Python.
folder <- commandArgs(TRUE)[1]
program <- commandArgs(TRUE)[2]
source(file.path(folder, "checks.R"))
library(sbps)
library(splines)
set.seed(3)
n <- 240
d <- data.frame(x = round(rnorm(n), 6), z = round(runif(n, 1, 3), 6), cyl = sample(c(4, 6, 8), n, TRUE), class = sample(c("compact", "suv", "van"), n, TRUE),
                flag = sample(c(TRUE, FALSE), n, TRUE), a = sample(c("u", "v"), n, TRUE), g = sample(paste0("g", 1:8), n, TRUE), `odd name` = round(rnorm(n), 6),
                check.names = FALSE)
effects <- rnorm(8)
d$y <- round(0.5 * d$x + effects[as.integer(sub("g", "", d$g))] + rnorm(n), 6)
d$b <- as.integer(d$y > 0)
write.csv(d, "table.csv", row.names = FALSE)
python <- d
python$flag <- ifelse(d$flag, "True", "False")
write.csv(python, "pandas.csv", row.names = FALSE) # as pandas writes booleans
read <- read.csv("table.csv", check.names = FALSE, stringsAsFactors = TRUE)

# ---- names of model.matrix ----
formulas <- c("y ~ x", "y ~ class", "y ~ 0 + class", "y ~ flag", "y ~ 0 + flag", "y ~ flag * class - 1", "y ~ poly(x, 2)", "y ~ x:z", "y ~ x * class", "y ~ class:a",
              "y ~ factor(cyl)", "y ~ I(x^2) + I(x > 0)", "y ~ `odd name` * class", "y ~ log(z) + bs(x, df = 4)", "y ~ ns(z, df = 3):flag", "y ~ cut(x, 3)",
              "y ~ relevel(class, ref = 'suv')", "y ~ scale(z) + sqrt(z)", "y ~ (x + z + a)^2", "y ~ a / x", "y ~ 1", "y ~ x + I((x - 1) * 2) + flag:x")
text_of <- function(column) gsub('""', '"', gsub('^"|"$', "", column))
by_program <- function(table, formula, ...) {
    lines <- system2(program, shQuote(c("map", table, formula, "--family", "gaussian", "--csv", ...)), stdout = TRUE, stderr = FALSE)
    setdiff(text_of(sub(",[^,]*$", "", lines[-1])), "sigma")
}
for (text in formulas) {
    shell <- gsub("'", '"', text)
    want <- colnames(model.matrix(as.formula(text), read))
    fit <- suppressWarnings(sbps(as.formula(text), d, family = gaussian(), ess = 20, seed = 1))
    check_that(paste(text, "by the command line"), identical(by_program("table.csv", shell), want))
    check_that(paste(text, "by the command line, of a table of pandas"), identical(by_program("pandas.csv", shell), want))
    check_that(paste(text, "in R"), identical(names(coef(fit)), want) && identical(setdiff(rownames(summary(fit)), "sigma"), want))
}
features <- system2(program, c("map", "table.csv", "--target", "y", "--features", "x,class", "--family", "gaussian", "--csv"), stdout = TRUE, stderr = FALSE)
check_that("names without a formula", identical(sub(",.*", "", features), c("name", "intercept", "x", "class=suv", "class=van", "sigma")))

# ---- the same names and numbers everywhere ----
same_digits <- function(a, b) identical(is.na(a), is.na(b)) && all(a == b | abs(a / b - 1) < 1e-9, na.rm = TRUE) # the command prints ten
models <- list(list("y ~ x * flag + class", "gaussian", gaussian()), list("b ~ poly(x, 2) + factor(cyl)", "bernoulli", binomial()),
               list("y ~ x + (1 + x | g)", "gaussian", gaussian()))
for (m in models) {
    run <- c("sample", "table.csv", m[[1]], "--family", m[[2]], "--seed", "5", "--ess", "100", "--ranef", "all", "--progress", "off", "-o", "shell.nc")
    system2(program, shQuote(run), stderr = FALSE)
    system2("/usr/bin/python3", c(shQuote(file.path(folder, "names_by_python.py")), shQuote(m[[1]]), m[[2]]))
    fit <- suppressWarnings(sbps(as.formula(m[[1]]), d, family = m[[3]], seed = 5, ess = 100))
    writeBin(fit$run, "r.nc")
    summaries <- lapply(c("shell.nc", "python.nc", "r.nc"), function(file) system2(program, c("summary", file, "--csv"), stdout = TRUE))
    check_that(paste(m[[1]], "in Python"), identical(summaries[[2]], summaries[[1]]))
    check_that(paste(m[[1]], "in R"), identical(summaries[[3]], summaries[[1]]))
    shell <- read.csv(text = summaries[[1]], check.names = FALSE)
    check_that(paste(m[[1]], "columns"), identical(names(shell), c("name", "mean", "mcse", "sd", "q5", "q50", "q95", "ess_bulk", "ess_tail", "rhat", "bias")))
    check_that(paste(m[[1]], "has fixed effects of model.matrix"), identical(names(fixef(fit)), shell$name[seq_along(fixef(fit))]))
    numbers <- function(table) unname(as.matrix(as.data.frame(table)[names(shell)[-1]]))
    python <- read.csv("python.csv", check.names = FALSE)
    check_that(paste(m[[1]], "names of the summaries"), identical(python$name, shell$name) && identical(rownames(fit$figures), shell$name))
    check_that(paste(m[[1]], "numbers of R's summary"), same_digits(numbers(fit$figures), numbers(shell)))
    check_that(paste(m[[1]], "numbers of Python's summary"), same_digits(numbers(python), numbers(shell)))
}
end()
