# Priors of several forms.
library(rstanarm)
fmla <- mpg ~ wt + qsec + am
prior1 <- stan_glm(fmla, data = mtcars, prior = normal(location = c(-5, 0, 0), scale = c(2, 1, 1)), seed = 1, refresh = 0)
prior2 <- stan_glm(fmla, data = mtcars, prior = student_t(4, 0, 2.5, autoscale = TRUE), prior_intercept = cauchy(), seed = 1, refresh = 0)
prior3 <- stan_glm(fmla, data = mtcars, prior = laplace(0, 1.5), prior_aux = cauchy(0, 5), seed = 1, refresh = 0)
prior4 <- stan_glm(fmla, data = mtcars, prior = NULL, prior_intercept = NULL, prior_aux = NULL, seed = 1, refresh = 0)
for (each in list(prior1, prior2, prior3, prior4)) prior_summary(each)
fit <- prior4
stopifnot(max(abs(coef(fit) - coef(lm(fmla, mtcars))) / se(fit)[1:4]) < 0.2)
