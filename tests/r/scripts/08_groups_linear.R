# Reaction times: slopes and intercepts by subject.
library(rstanarm)
fit <- stan_lmer(Reaction ~ Days + (Days | Subject), data = lme4::sleepstudy, seed = 3, refresh = 0)
head(coef(fit)$Subject)
sds <- as.data.frame(VarCorr(fit))
stopifnot(identical(names(sds), c("grp", "var1", "var2", "vcov", "sdcor")), nrow(sds) == 4)
new <- data.frame(Days = 0:2, Subject = "308")
posterior_epred(fit, newdata = new, draws = 10)
