# Clotting times.
library(rstanarm)
clotting <- data.frame(log_u = log(c(5, 10, 15, 20, 30, 40, 60, 80, 100)), lot1 = c(118, 58, 42, 35, 27, 25, 21, 19, 18))
fit <- stan_glm(lot1 ~ log_u, data = clotting, family = Gamma(link = "log"), iter = 500, refresh = 0)
new <- data.frame(log_u = log(c(7, 25)))
dim(posterior_predict(fit, newdata = new, draws = 50))
predictive_interval(fit, newdata = new, prob = 0.8)
