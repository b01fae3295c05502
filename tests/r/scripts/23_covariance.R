# expected: refused: use prior_sd and prior_cor
library(rstanarm)
fit <- stan_lmer(Reaction ~ Days + (Days | Subject), data = lme4::sleepstudy, prior_covariance = decov(regularization = 2))
