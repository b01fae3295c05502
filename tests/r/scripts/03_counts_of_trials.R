# Successes and failures with ordered factors.
library(rstanarm)
fit <- stan_glm(cbind(ncases, ncontrols) ~ agegp + tobgp + alcgp, data = esoph, family = binomial(), prior = normal(0, 2.5), prior_intercept = normal(0, 10),
                seed = 12345, refresh = 0, QR = TRUE)
prior_summary(fit)
summary(fit, pars = c("agegp.L", "tobgp.L"), probs = c(0.025, 0.975))
