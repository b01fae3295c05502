# Comparison of models by leave-one-out.
library(rstanarm)
fit1 <- stan_glm(mpg ~ wt, data = mtcars, seed = 1, refresh = 0)
fit2 <- update(fit1, formula = . ~ . + cyl)
fit3 <- update(fit1, formula = . ~ factor(gear))
comparison <- loo_compare(loo(fit1), loo(fit2), loo(fit3))
stopifnot(nrow(comparison) == 3, rownames(comparison)[3] == "fit3")
waic(fit1)
median(bayes_R2(fit2))
fit <- fit2
