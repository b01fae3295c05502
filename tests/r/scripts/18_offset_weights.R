# Claims of insured groups with an exposure, and a subset of the rows.
library(rstanarm)
insurance <- transform(MASS::Insurance, Group = factor(Group, ordered = FALSE), Age = factor(Age, ordered = FALSE))
fit <- stan_glm(Claims ~ District + Group + Age, data = insurance, offset = log(Holders), family = poisson, prior = normal(0, 2.5), prior_intercept = normal(0, 5), seed = 9, refresh = 0)
part <- stan_glm(Claims ~ Group + offset(log(Holders)), data = insurance, subset = District == "1", family = poisson, refresh = 0)
stopifnot(nobs(fit) == 64, nobs(part) == 16)
