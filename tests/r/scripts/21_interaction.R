# An interaction with a factor, draws at new values, and summaries of them.
library(rstanarm)
fit <- stan_glm(mpg ~ wt * factor(am), data = mtcars, family = gaussian, prior = normal(0, 10, autoscale = FALSE), prior_intercept = normal(20, 20), seed = 7, refresh = 0)
new <- expand.grid(wt = c(2, 3), am = 0:1)
means <- apply(posterior_epred(fit, newdata = new), 2, median)
sims <- as.data.frame(fit)
slope <- sims$wt + sims[["wt:factor(am)1"]]
stopifnot(length(means) == 4, mean(slope < sims$wt) > 0.9)
