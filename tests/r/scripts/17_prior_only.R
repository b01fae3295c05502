# Draws from the prior, and the prior beside the posterior.
library(rstanarm)
fit <- stan_glm(mpg ~ wt + am, data = mtcars, prior = normal(0, 3), prior_intercept = normal(20, 5), prior_aux = exponential(0.2), seed = 3, refresh = 0)
prior <- stan_glm(mpg ~ wt + am, data = mtcars, prior = normal(0, 3), prior_intercept = normal(20, 5), prior_aux = exponential(0.2), prior_PD = TRUE, seed = 3, refresh = 0)
stopifnot(abs(sd(as.matrix(prior)[, "wt"]) - 3) < 0.3, sd(as.matrix(fit)[, "wt"]) < 1.5)
p <- posterior_vs_prior(fit, pars = c("wt", "am"))
