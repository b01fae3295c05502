# A linear regression with given priors, its intervals, predictions and residuals.
library(rstanarm)
mtcars$mpg10 <- mtcars$mpg / 10
fit <- stan_glm(mpg10 ~ wt + cyl + am, data = mtcars, prior = normal(0, 2.5), prior_intercept = normal(2, 10), prior_aux = exponential(1),
                chains = 4, iter = 2000, seed = 12345, refresh = 0)
print(fit, digits = 2)
posterior_interval(fit, prob = 0.9)
yrep <- posterior_predict(fit, draws = 100)
stopifnot(ncol(yrep) == nrow(mtcars), length(residuals(fit)) == 32, nrow(as.matrix(fit)) >= 400)
