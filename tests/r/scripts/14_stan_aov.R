# expected: refused: stan_glm(..., family = gaussian())
library(rstanarm)
fit <- stan_aov(yield ~ block + N * P * K, data = npk, prior = R2(0.5), seed = 12345)
