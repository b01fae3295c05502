# Ordered outcomes with a normal prior of the coefficients.
library(rstanarm)
housing <- MASS::housing[rep(seq_len(nrow(MASS::housing)), MASS::housing$Freq), ]
fit <- stan_polr(Sat ~ Infl + Type + Cont, data = housing, prior = NULL, prior_counts = dirichlet(1), method = "logistic", seed = 1)
coef(fit)
stopifnot(length(coef(fit)) == 6)
