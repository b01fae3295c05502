# Seizures: counts with a group effect.
library(rstanarm)
fit <- stan_glmer.nb(y ~ lbase + trt + (1 | subject), data = MASS::epil, chains = 2, iter = 500, seed = 2, refresh = 0)
fixef(fit)
sigma_b <- sqrt(VarCorr(fit)$subject[1, 1])
stopifnot(sigma_b > 0)
