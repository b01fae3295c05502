# Rates between 0 and 1.
library(rstanarm)
set.seed(8)
rates <- data.frame(x = rnorm(200, 2, 1))
mu <- plogis(-0.5 + 0.4 * rates$x)
rates$y <- rbeta(200, mu * 30, (1 - mu) * 30)
fit <- stan_betareg(y ~ x, data = rates, link = "logit", chains = 2, iter = 500, refresh = 0)
print(fit)
posterior_predict(fit, draws = 5)[, 1:3]
