# A randomised trial of counts; priors are those of rstanarm by default.
library(rstanarm)
counts <- c(18, 17, 15, 20, 10, 20, 25, 13, 12)
outcome <- gl(3, 1, 9)
treatment <- gl(3, 3)
fit <- stan_glm(counts ~ outcome + treatment, family = poisson(link = "log"), prior = normal(0, 1), prior_intercept = normal(0, 5), refresh = 0, iter = 250, chains = 1, seed = 12345)
confint_like <- posterior_interval(fit, prob = 0.95)
stopifnot(nrow(confint_like) == 5)
