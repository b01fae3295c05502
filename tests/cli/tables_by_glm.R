# tables_by_glm.R SBPS: tables of modeldata, carData and ggplot2 through the program and through R. The largest difference of
# a coefficient, in R's standard errors. Missing packages are reported and skipped.
program <- commandArgs(TRUE)[1]
limit <- 1e-6
invisible(Sys.setlocale("LC_COLLATE", "C"))

tables <- list(
  list("carData", "TitanicSurvival", "survived", "logistic"),
  list("carData", "Arrests", "released", "logistic"),
  list("carData", "Cowles", "volunteer", "logistic"),
  list("carData", "Wells", "switch", "logistic"),
  list("carData", "Mroz", "lfp", "logistic"),
  list("carData", "Salaries", "salary", "linear"),
  list("carData", "Prestige", "prestige", "linear"),
  list("carData", "Davis", "weight", "linear"),
  list("carData", "SLID", "wages", "linear"),
  list("modeldata", "mlc_churn", "churn", "logistic"),
  list("modeldata", "ames", "Sale_Price", "linear",
       "MS_Zoning,Lot_Area,Street,Lot_Shape,Neighborhood,Bldg_Type,House_Style,Year_Built,Gr_Liv_Area,Central_Air"),
  list("ggplot2", "diamonds", "price", "linear"))

fetch <- function(package, name) {
  where <- new.env()
  data(list = name, package = package, envir = where)
  as.data.frame(get(name, where))
}

# Factors as read from text: unordered, with the reference level of the program first.
as_text <- function(d, names) {
  for (column in colnames(d)) {
    if (!is.factor(d[[column]]) && !is.character(d[[column]]) && !is.logical(d[[column]])) next
    levels <- sort(unique(as.character(d[[column]])))
    own <- paste0(column, "=", levels) %in% names
    d[[column]] <- factor(as.character(d[[column]]), levels = c(levels[!own], levels[own]))
  }
  d
}

map <- function(file, t) {
  options <- c("map", file, "--target", t[[3]], "--model", t[[4]], "--missing", "drop", "--prior", "flat",
               "--prior-intercept", "flat", if (length(t) > 4) c("--features", t[[5]]), "--csv")
  out <- suppressWarnings(system2(program, options, stdout = TRUE, stderr = "notes.txt"))
  if (!is.null(attr(out, "status"))) stop(paste(readLines("notes.txt"), collapse = "\n"))
  got <- read.csv(text = out[!startsWith(out, "#")], check.names = FALSE)
  setNames(got$value, got$name)
}

# Coefficients of R with the names of the program.
fit_by_r <- function(d, t, names) {
  target <- t[[3]]
  d <- as_text(d, names)
  if (length(t) > 4) d <- d[c(target, strsplit(t[[5]], ",")[[1]])]
  d <- d[complete.cases(d), ]
  if (t[[4]] == "logistic") d[[target]] <- as.integer(d[[target]] == max(levels(d[[target]])))
  model <- as.formula(paste0("`", target, "` ~ ."))
  fit <- if (t[[4]] == "logistic") glm(model, binomial, d, epsilon = 1e-14, maxit = 100) else lm(model, d)
  b <- coef(summary(fit))
  rownames(b) <- gsub("`", "", rownames(b))
  for (column in colnames(d)[vapply(d, is.factor, TRUE)])
    for (level in levels(d[[column]])) {
      at <- rownames(b) == paste0(column, level)
      rownames(b)[at] <- paste0(column, "=", level)
    }
  rownames(b)[1] <- "intercept"
  b
}

check <- function(t) {
  if (!requireNamespace(t[[1]], quietly = TRUE)) {
    cat(sprintf("left out: %s, which package %s has\n", t[[2]], t[[1]]))
    return(NA)
  }
  d <- fetch(t[[1]], t[[2]])
  file <- paste0(t[[2]], ".csv")
  write.csv(d, file)
  got <- map(file, t)
  b <- fit_by_r(d, t, names(got))
  lost <- setdiff(rownames(b), names(got))
  if (length(lost) > 0) stop(paste(file, "has no coefficient", lost[1]))
  worst <- max(abs(got[rownames(b)] - b[, 1]) / b[, 2])
  cat(sprintf("%-16s %-9s %3d coefficients, largest difference %.1e standard errors\n", t[[2]], t[[4]], nrow(b), worst))
  worst
}

worst <- vapply(tables, check, 0.0)
if (all(is.na(worst))) quit(status = 77)
if (any(worst > limit, na.rm = TRUE)) quit(status = 1)
