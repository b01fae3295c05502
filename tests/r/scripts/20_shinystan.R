# expected: refused: sbps_report(fit, "fit.html")
library(rstanarm)
fit <- stan_glm(mpg ~ wt, data = mtcars, chains = 1, iter = 500, refresh = 0)
if (TRUE) launch_shinystan(fit)
