# Herds of cattle: a group effect with rstanarm's default prior of its standard deviation.
library(rstanarm)
cbpp <- lme4::cbpp
fit <- stan_glmer(cbind(incidence, size - incidence) ~ size + period + (1 | herd), data = cbpp, family = binomial, QR = TRUE, cores = 2, seed = 12345, iter = 500, refresh = 0)
print(fit, digits = 1)
VarCorr(fit)
ranef(fit)
stopifnot(ngrps(fit)[["herd"]] == 15, identical(names(fixef(fit)), c("(Intercept)", "size", "period2", "period3", "period4")))
