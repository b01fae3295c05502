# Design matrices of many formulas by R: Rscript expected.R > expected.txt
# TABLE, then for every formula the columns of model.matrix (COLUMN name values...), the sum of its offsets
# (OFFSET values...) and lme4's design of its group terms (GROUP factor, LEVELS, EFFECT name values...).
suppressMessages({library(splines); library(lme4)})
table <- data.frame(
    y = c(1, 0, 0, 1, 1, 0, 1, 0, 1, 1, 0, 1, 0, 1),
    n = c(3, 5, 2, 8, 1, 4, 4, 6, 7, 2, 9, 3, 5, 2),
    a = c("u", "v", "u", "v", "u", "u", "v", "v", "u", "v", "u", "v", "v", "u"),
    b = c("r", "p q", "s", "p q", "r", "r", "s", "p q", "s", "p q", "r", "s", "r", "s"),
    g = c("D", "A", "B", "C", "B", "A", "D", "E", "E", "B", "A", "C", "D", "D"),
    h = c("m", "k", "k", "m", "m", "k", "k", "m", "k", "k", "m", "m", "k", "m"),
    x = c(0.3, -1.25, 2.5, 0.75, -0.5, 1.125, -2.3, 0.01, 1.9, -0.77, 3.1, 0.3, -1.6, 0.9),
    z = c(1.5, 2, 0.125, 7.5, 3.25, 0.6, 12, 5.5, 1.5, 2.5, 9.75, 0.33, 4, 6.125),
    u = c(1, 2, 2, 3, 1, 3, 4, 4, 2, 1, 3, 4, 2, 1),
    t = c(100, 2000, 350, 40, 5, 610, 72, 8000, 99, 1010, 110, 125000, 13, 1400),
    odd = c(0.5, 1.5, -2, 4, 0, 1, 2.25, -3, 5, 6, -7, 8, 9.5, 10),
    o2 = c("left", "right", "right", "left", "left", "left", "right", "right", "left", "right", "left", "left", "right", "left"),
    stringsAsFactors = TRUE)
names(table)[11:12] <- c("odd name", "2nd")
formulas <- readLines(file.path(dirname(sub("--file=", "", grep("--file=", commandArgs(), value = TRUE))), "formulas.txt"))
formulas <- formulas[nzchar(formulas) & !startsWith(formulas, "#")]
number <- function(v) paste(sprintf("%.16g", v), collapse = "\t")
print_line <- function(...) cat(paste(..., sep = "\t"), "\n", sep = "")

effects <- function(f) {
    made <- lFormula(f, table, control = lmerControl(check.nobs.vs.rankZ = "ignore", check.nobs.vs.nlev = "ignore", check.nobs.vs.nRE = "ignore",
                                                     check.nlev.gtr.1 = "ignore"))$reTrms
    which <- attr(made$flist, "assign")
    for (k in seq_along(made$cnms)) {
        factor <- made$flist[[which[k]]]
        nested <- grepl("[|][^)]*/", deparse1(f)) # lme4 has those as h:g
        back <- function(word) if (!nested) as.character(word) else sapply(strsplit(as.character(word), ":"), function(part) paste(rev(part), collapse = ":"))
        width <- length(made$cnms[[k]])
        print_line("GROUP", back(names(made$cnms)[k]))
        print_line("LEVELS", paste(back(factor), collapse = "\t"))
        z <- as.matrix(made$Ztlist[[k]])
        for (j in seq_len(width)) {
            row <- (as.integer(factor) - 1) * width + j
            print_line("EFFECT", made$cnms[[k]][j], number(z[cbind(row, seq_along(row))]))
        }
    }
}

# A bar inside I() joins TRUE and FALSE.
has_group <- function(e) is.call(e) && !identical(e[[1]], quote(I)) &&
    (as.character(e[[1]])[1] %in% c("|", "||") || any(sapply(as.list(e)[-1], has_group)))

print_line("TABLE", nrow(table), ncol(table))
print_line("NAMES", paste(names(table), collapse = "\t"))
for (i in seq_len(nrow(table))) print_line("ROW", paste(sapply(table[i, ], function(v) if (is.factor(v)) as.character(v) else sprintf("%.16g", v)), collapse = "\t"))
for (text in formulas) {
    f <- as.formula(text)
    joined <- any(all.names(f) %in% c("|", "||")) && !has_group(f)
    fixed <- if (joined) f else nobars(f)
    frame <- tryCatch(model.frame(fixed, table), error = function(e) message(text, ": ", conditionMessage(e)))
    if (is.null(frame)) next
    print_line("FORMULA", text)
    x <- model.matrix(attr(frame, "terms"), frame)
    for (j in seq_len(ncol(x))) print_line("COLUMN", colnames(x)[j], number(x[, j]))
    if (!is.null(model.offset(frame))) print_line("OFFSET", number(model.offset(frame)))
    if (!joined && length(findbars(f)) > 0) effects(f)
}
