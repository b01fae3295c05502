# A probit link, and a plot of observed beside replicated rates.
library(rstanarm)
fit <- stan_glm(am ~ wt, data = mtcars, family = binomial("probit"), prior = normal(0, 1), prior_intercept = normal(0, 2), seed = 4, refresh = 0)
pp_check(fit, plotfun = "stat", stat = "mean")
coef(fit)
