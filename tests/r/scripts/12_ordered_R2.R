# expected: refused: R2() is rstanarm's prior
library(rstanarm)
fit <- stan_polr(tobgp ~ agegp, data = esoph, prior = R2(0.2, "mean"), init_r = 0.1, seed = 12345)
