# Days absent from school: the short name of the negative binomial model.
library(rstanarm)
fit <- stan_glm.nb(Days ~ Sex + Age + Eth, data = MASS::quine, link = "log", prior_aux = exponential(1.5), chains = 1, iter = 200, refresh = 0)
round(coef(fit), 2)
stopifnot(all(posterior_predict(fit, draws = 20) >= 0))
