# expected: refused: stan_glm(..., family = gaussian())
library(rstanarm)
fit <- stan_lm(mpg ~ wt + qsec + am, data = mtcars, prior = R2(0.75), chains = 1, iter = 300, seed = 12345, refresh = 0)
