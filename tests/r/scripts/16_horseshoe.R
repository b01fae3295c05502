# A few of many coefficients.
library(rstanarm)
set.seed(2)
x <- matrix(rnorm(100 * 15), 100, dimnames = list(NULL, paste0("x", 1:15)))
wide <- data.frame(y = 2 * x[, 1] - 1.5 * x[, 2] + rnorm(100), x)
fit <- stan_glm(y ~ ., data = wide, prior = hs(df = 1, global_df = 1, global_scale = 0.05), seed = 5, refresh = 0)
stopifnot(all(abs(coef(fit)[4:16]) < 0.25), abs(coef(fit)["x1"] - 2) < 0.4)
