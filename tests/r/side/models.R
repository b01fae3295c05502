# Models that rstanarm's vignettes and help pages fit, and lme4's, as a user of rstanarm writes them: `glm` and `glmer` stand for the name
# of the function. side/reference.R puts stan_glm and stan_glmer there, compare.R sbps. Data are R's own, lme4's and rstanarm's.
dobson <- data.frame(counts = c(18, 17, 15, 20, 10, 20, 25, 13, 12), outcome = gl(3, 1, 9), treatment = gl(3, 3))
clotting <- data.frame(log_u = log(c(5, 10, 15, 20, 30, 40, 60, 80, 100)), lot1 = c(118, 58, 42, 35, 27, 25, 21, 19, 18))
# Hits in the first 45 at-bats of 1970 of Efron and Morris's eighteen batters.
batters <- data.frame(player = sprintf("p%02d", 1:18), hits = c(18, 17, 16, 15, 14, 14, 13, 12, 11, 11, 10, 10, 10, 10, 10, 9, 8, 7), at_bats = 45)

models <- list(
    cars = quote(glm(mpg / 10 ~ wt + qsec + factor(cyl), data = mtcars, family = gaussian(), prior = normal(0, 2.5), prior_intercept = normal(2, 10),
                     prior_aux = exponential(1), chains = 4, seed = 12345, refresh = 0)),
    manual = quote(glm(am ~ wt + hp, data = mtcars, family = binomial(link = "logit"), prior = student_t(df = 7, location = 0, scale = c(2.5, 0.05)),
                       prior_intercept = student_t(df = 7, location = 0, scale = 2.5), chains = 4, seed = 12345, refresh = 0)),
    dobson = quote(glm(counts ~ outcome + treatment, data = dobson, family = poisson(link = "log"), prior = normal(0, 2.5), prior_intercept = normal(0, 5),
                       chains = 4, seed = 12345, refresh = 0)),
    clotting = quote(glm(lot1 ~ log_u, data = clotting, family = Gamma(link = "log"), prior = normal(0, 2.5), prior_intercept = normal(0, 5),
                         prior_aux = exponential(1), chains = 4, seed = 12345, refresh = 0)),
    esoph = quote(glm(cbind(ncases, ncontrols) ~ agegp + tobgp + alcgp, data = esoph, family = binomial(), prior = normal(0, 2.5),
                      prior_intercept = normal(0, 10), chains = 4, seed = 12345, refresh = 0)),
    pooled = quote(glm(cbind(hits, at_bats - hits) ~ 1, data = batters, family = binomial("logit"), prior_intercept = normal(-1, 1), chains = 4, seed = 12345,
                       refresh = 0)),
    partly = quote(glmer(cbind(hits, at_bats - hits) ~ (1 | player), data = batters, family = binomial("logit"), prior_intercept = normal(-1, 1), chains = 4,
                         seed = 12345, refresh = 0)),
    cbpp = quote(glmer(cbind(incidence, size - incidence) ~ period + (1 | herd), data = lme4::cbpp, family = binomial, prior = normal(0, 2.5),
                       prior_intercept = normal(0, 10), chains = 4, seed = 12345, refresh = 0)),
    insects = quote(glm(count ~ spray, data = InsectSprays, family = neg_binomial_2(), prior = normal(0, 2.5), prior_intercept = normal(0, 5),
                        prior_aux = exponential(1), chains = 4, seed = 12345, refresh = 0)),
    wells = quote(glm(switch ~ I(dist / 100) + arsenic, data = rstanarm::wells, family = binomial(link = "logit"), prior = student_t(df = 7, location = 0, scale = 2.5),
                      prior_intercept = student_t(df = 7, location = 0, scale = 2.5), chains = 4, seed = 12345, refresh = 0)),
    roaches = quote(glm(y ~ I(roach1 / 100) + treatment + senior, offset = log(exposure2), data = rstanarm::roaches, family = poisson, prior = normal(0, 2.5),
                        prior_intercept = normal(0, 5), chains = 4, seed = 12345, refresh = 0)))
# Data of packages: a model whose package is missing is reported and skipped.
needs <- c(cbpp = "lme4", wells = "rstanarm", roaches = "rstanarm")
