# Methods for generics of other packages, against calculations from the draws: ecosystem_by_hand.R FOLDER
source(file.path(commandArgs(TRUE)[1], "checks.R"))
suppressMessages(library(sbps))
quick <- function(...) suppressMessages(suppressWarnings(sbps(..., ess = 50, chains = 2)))
cars <- transform(mtcars, cyl = factor(cyl), o = factor(gear, ordered = TRUE), v = vs == 1, word = ifelse(carb > 2, "many", "few"))
fit <- sbps(mpg ~ wt + cyl, cars, family = gaussian(), ess = 50, chains = 2)
draws <- as.matrix(fit)
mixed <- quick(weight ~ Time + (1 + Time | Chick), ChickWeight, family = gaussian())
ordered <- quick(o ~ wt, cars, family = "cumulative")

# ---- the model frame and the design matrix, against lm ----
degree <- 2
for (f in list(mpg ~ wt + cyl, mpg ~ wt * o, mpg ~ as.factor(gear) + v, log(mpg) ~ poly(wt, degree) + word, mpg ~ splines::ns(hp, 3), mpg ~ 0 + o + wt, mpg ~ scale(wt) + factor(am))) {
    own <- quick(f, cars, family = gaussian())
    linear <- lm(f, cars)
    what <- paste(deparse(f), collapse = "")
    x <- model.matrix(own)
    check_that(paste(what, "model.matrix"), identical(dimnames(x)[[2]], colnames(model.matrix(linear))) && max(abs(x - model.matrix(linear))) < 1e-12)
    check_that(paste(what, "names"), setequal(colnames(x), names(coef(own))))
    check_that(paste(what, "model.frame"), identical(names(model.frame(own)), names(model.frame(linear))) && near(as.numeric(model.response(model.frame(own))), as.numeric(model.response(model.frame(linear)))))
    check_that(paste(what, "terms"), identical(attr(terms(own), "term.labels"), attr(terms(linear), "term.labels")))
    new <- cars[3:6, ]
    later <- model.matrix(delete.response(terms(own)), model.frame(delete.response(terms(own)), new, xlev = linear$xlevels), contrasts.arg = attr(x, "contrasts"))
    check_that(paste(what, "terms of new rows"), max(abs(later - model.matrix(linear)[3:6, ])) < 1e-10)
}
check_that("a frame with groups", identical(names(model.frame(mixed)), c("weight", "Time", "Chick")) && identical(names(model.frame(mixed, fixed.only = TRUE)), c("weight", "Time")))
check_that("weights and offset", setequal(names(model.frame(quick(mpg ~ wt, mtcars, family = gaussian(), weights = qsec, offset = hp / 100))), c("mpg", "wt", "(weights)", "(offset)")))
check_that("thresholds are no coefficients", identical(names(coef(ordered)), "wt") && identical(colnames(model.matrix(ordered)), "wt"))
refused("logLik", "sbps_bad_arg", "loo(fit)", AIC(fit))
refused("anova", "sbps_bad_arg", "loo_compare", anova(fit, fit))

# ---- groups ----
parts <- VarCorr(mixed)
table <- as.data.frame(parts)
figures <- summary(mixed)
check_that("variances are squares", identical(unname(diag(parts$Chick)), unname(attr(parts$Chick, "stddev")^2)) && identical(table$vcov[c(1, 2, 4)], table$sdcor[c(1, 2, 4)]^2))
check_that("sds of the summary", identical(unname(attr(parts$Chick, "stddev")), unname(figures[grep("^sd_", rownames(figures)), "mean"])) && identical(attr(parts, "sc"), figures[["sigma", "mean"]]))
check_that("correlations of the summary", identical(attr(parts$Chick, "correlation")[1, 2], figures[[grep("^cor_", rownames(figures)), "mean"]]) && near(table$vcov[3], table$sdcor[3] * prod(table$sdcor[1:2])))
if (is_installed("lme4")) {
    theirs <- as.data.frame(lme4::VarCorr(lme4::lmer(weight ~ Time + (1 + Time | Chick), ChickWeight)))
    check_that("lme4's layout", identical(names(table), names(theirs)) && isTRUE(all.equal(table[1:3], theirs[1:3], check.attributes = FALSE)))
    check_that("lme4's other order", identical(as.data.frame(parts, order = "lower.tri")$var2, c(NA, "Time", NA, NA)))
} else cat("lme4 is not installed: its layout of variances is not compared\n")
check_that("predict without groups", near(predict(mixed, re.form = NA), unname(colMeans(posterior_epred(mixed, re.form = NA)))))

# ---- functions of parameters ----
difference <- draws[, "cyl6"] - draws[, "cyl8"]
both <- hypothesis(fit, c("cyl6 > cyl8", second = "cyl6 - cyl8 = 0", "exp(wt) < `(Intercept)` / 2"))$hypothesis
p <- mean(difference > 0)
check_that("a direction", near(both$Evid.Ratio[1], p / (1 - p)) && near(both$Post.Prob[1], p) && near(both$CI.Lower[1], unname(quantile(difference, 0.05))))
check_that("an equality", is.na(both$Evid.Ratio[2]) && near(both$CI.Upper[2], unname(quantile(difference, 0.975))) && both$Hypothesis[2] == "second")
check_that("an expression", near(both$Estimate[3], mean(exp(draws[, "wt"]) - draws[, "(Intercept)"] / 2)))
prior <- update(fit, prior = "normal(0, 2)", prior_only = TRUE, ess = 4000)
odds <- hypothesis(update(fit, prior = "normal(0, 2)", ess = 4000), "cyl6 = 0", prior = prior)$hypothesis$Evid.Ratio
posterior <- as.matrix(update(fit, prior = "normal(0, 2)", ess = 4000))[, "cyl6"]
check_that("Savage and Dickey", abs(log(odds) - log(dnorm(0, mean(posterior), sd(posterior)) / dnorm(0, 0, 2))) < 0.15)
refused("a parameter that is not there", "sbps_bad_arg", "there is no parameter 'wtt'", hypothesis(fit, "wtt > 0"))
refused("no sign", "sbps_bad_arg", "expected one <, > or =", hypothesis(fit, "wt"))
refused("nonsense", "sbps_bad_arg", "is not an expression", hypothesis(fit, "wt + > 0"))
values <- contrast(fit, "cyl6 - cyl8", odds = "exp(wt)")
check_that("contrast", near(values$mean, c(mean(difference), mean(exp(draws[, "wt"]))), 1e-5) && near(values$p_positive[1], p, 1e-5))
refused("contrast of nothing", "sbps_bad_arg", "there is no parameter", contrast(fit, "wtt - cyl6"))
scores <- score(fit, cars[1:9, ])
check_that("score", near(scores$rmse, sqrt(mean((cars$mpg[1:9] - predict(fit, cars[1:9, ]))^2)), 1e-3) && grepl("rmse", capture.output(print(scores))[4]))
refused("score of nothing", "sbps_bad_arg", "expected new rows", score(fit))
check_that("check", any(grepl("16 checks|checks of model", capture.output(print(check(fit))))) && is.list(check(fit)))
check_that("JSON", identical(sbps:::parse_json("{\"a\": [1, 2.5e-1], \"b\": {\"c\": null, \"d\": \"x\\\"\\u00e9\"}, \"e\": []}"), list(a = c(1, 0.25), b = list(c = NA, d = "x\"\u00e9"), e = list())))

# ---- predictions leave no file ----
gone <- paste0(tempdir(), "-away")
moved <- file.rename(tempdir(), gone)
check_that("predict without a folder for files", length(condition_of(predict(fit))) == 32 && is.matrix(condition_of(posterior_predict(fit, draws = 3))) && inherits(condition_of(diagnose(fit)), "sbps_text"))
moved <- file.rename(gone, tempdir())

# ---- priors and arguments by the names of rstanarm ----
prior_of_run <- function(...) capture.output(prior_summary(suppressMessages(stan_glmer(..., ess = 20, chains = 1))))
herds <- data.frame(y = rep(0:3, 10), n = 8, g = rep(1:8, 5), x = seq(-1, 1, length.out = 40))
counts <- cbind(y, n - y) ~ x + (1 | g)
check_that("decov()", "sd_g__Intercept ~ exponential(1)" %in% gsub("(Intercept)", "Intercept", prior_of_run(counts, herds, binomial), fixed = TRUE))
check_that("decov(shape, scale)", any(grepl("^sd_g.* ~ gamma\\(2, 4\\)$", prior_of_run(counts, herds, binomial, prior_covariance = decov(shape = 2, scale = 0.25)))))
check_that("flat", all(grepl("flat", capture.output(prior_summary(stan_glm(mpg ~ wt, data = cars, prior = NULL, prior_intercept = NULL, prior_aux = NULL))))))
lines <- capture.output(prior_summary(stan_glm(mpg ~ wt, data = cars)))
check_that("rstanarm's defaults", sprintf("(Intercept) at the means of the columns ~ normal(%.4g, %.4g)", mean(cars$mpg), 2.5 * sd(cars$mpg)) %in% lines && sprintf("sigma ~ exponential(%.4g)", 1 / sd(cars$mpg)) %in% lines)
refused("decov of two effects", "sbps_bad_arg", "use prior_sd and prior_cor", stan_glmer(cbind(y, n - y) ~ x + (x | g), herds, binomial, prior_covariance = decov()))
refused("decov beside sigma", "sbps_bad_arg", "use prior_sd and prior_cor", stan_lmer(x ~ y + (1 | g), herds, prior_covariance = decov()))
refused("decov and prior_sd", "sbps_bad_arg", "give one of them", stan_glmer(counts, herds, binomial, prior_covariance = decov(), prior_sd = "exponential(2)"))
for (dist in c("lasso", "product_normal", "hs_plus")) refused(dist, "sbps_bad_arg", paste0(dist, "()"), sbps(mpg ~ wt, cars, family = gaussian(), prior = list(dist = dist)))
refused("a phi model", "sbps_bad_arg", "phi is one number", stan_betareg(p ~ wt | hp, data = cars))
for (f in list(stan_gamm4, stan_nlmer, stan_clogit, stan_jm, stan_mvmer, stan_biglm, kfold)) refused("a model that is not there", "sbps_bad_arg", ":", f(mpg ~ wt, mtcars))

lines <- capture.output(prior_summary(stan_glm(am ~ wt, data = cars, family = binomial("probit"), prior = normal(0, 1), prior_intercept = normal(0, 2))))
check_that("scales of a probit link", identical(lines, sprintf("%s ~ normal(0, %.4g)", c("(Intercept) at the means of the columns", "wt"), c(2, 1) * dnorm(0) / dlogis(0))))
holes <- sbps(mpg ~ wt, replace(cars, cbind(3:4, which(names(cars) == "wt")), NA), family = gaussian(), ess = 20)
note <- "(2 observations deleted due to missingness)"
check_that("rows left out are printed", utils::tail(capture.output(print(holes)), 1) == note && utils::tail(capture.output(print(summary(holes))), 1) == note)

# ---- other packages ----
with_package <- function(name, code) if (is_installed(name)) eval.parent(substitute(code)) else cat(name, "is not installed: its generics are not tried\n")
with_package("emmeans", {
    means <- as.data.frame(emmeans::emmeans(fit, "cyl"))
    at <- draws[, "(Intercept)"] + mean(cars$wt) * draws[, "wt"]
    check_that("emmeans", near(means$emmean, c(median(at), median(at + draws[, "cyl6"]), median(at + draws[, "cyl8"]))))
    pairs <- as.data.frame(pairs(emmeans::emmeans(fit, "cyl")))
    check_that("pairs", near(pairs$estimate[3], median(difference)))
    logit <- quick(am ~ wt * o + poly(hp, 2), cars, family = binomial())
    probabilities <- as.data.frame(suppressMessages(emmeans::emmeans(logit, ~ o, at = list(wt = 3, hp = 150), type = "response")))
    expected <- apply(posterior_epred(logit, newdata = data.frame(wt = 3, hp = 150, o = factor(3:5, ordered = TRUE))), 2, median)
    check_that("emmeans of a factor in a logistic model", near(probabilities$prob, expected, 1e-3))
    computed <- quick(mpg ~ as.factor(gear) + wt, mtcars, family = gaussian(), subset = hp < 300)
    check_that("a factor that R computed, with a subset", identical(nrow(as.data.frame(emmeans::emmeans(computed, ~ gear))), 3L) && near(emmeans::ref_grid(computed)@levels$wt, mean(mtcars$wt[mtcars$hp < 300])))
    check_that("emmeans of groups and of ordered outcomes", nrow(as.data.frame(emmeans::emmeans(mixed, ~ Time))) == 1 && nrow(as.data.frame(emmeans::emmeans(ordered, ~ wt))) == 1)
    check_that("emtrends", near(as.data.frame(emmeans::emtrends(fit, ~ 1, var = "wt"))[1, 2], median(draws[, "wt"]), 1e-4))
    check_that("our contrast of theirs", inherits(contrast(emmeans::emmeans(fit, "cyl"), "pairwise"), "emmGrid") && is.data.frame(emmeans::contrast(fit, "wt")))
    classes <- quick(o ~ wt, transform(cars, o = factor(gear)), family = "categorical")
    e <- condition_of(emmeans::emmeans(classes, ~ wt))
    check_that("classes are refused", inherits(e, "error") && grepl("not one linear predictor", conditionMessage(e)))
})
with_package("insight", {
    check_that("formulas", identical(insight::find_random(mixed)$random, "Chick") && identical(insight::find_predictors(fit)$conditional, c("wt", "cyl")) && identical(insight::find_response(mixed), "weight"))
    about <- insight::model_info(mixed)
    check_that("model_info", about$is_bayesian && about$is_mixed && about$is_linear && insight::model_info(ordered)$is_ordinal)
    check_that("parameters", identical(insight::find_parameters(fit)$conditional, names(coef(fit))) && near(unname(as.matrix(insight::get_parameters(fit))), unname(draws[, 1:4])))
    check_that("data", isTRUE(all.equal(insight::get_data(fit)$wt, cars$wt)) && identical(names(insight::get_data(mixed)), c("weight", "Time", "Chick")) && insight::n_obs(mixed) == 578)
    check_that("priors", "normal" %in% insight::get_priors(fit)$Distribution)
})
with_package("bayestestR", {
    frame <- as.data.frame(draws[, 1:4])
    for (name in c("hdi", "eti", "ci", "p_direction", "point_estimate", "map_estimate")) {
        f <- getExportedValue("bayestestR", name)
        check_that(name, isTRUE(all.equal(as.data.frame(f(fit)), as.data.frame(f(frame)), check.attributes = FALSE)))
    }
    check_that("effective_sample", near(bayestestR::effective_sample(fit)$ESS, unname(fit$figures[1:4, "ess_bulk"])))
    check_that("rope", near(bayestestR::rope(fit)$ROPE_high, rep(0.1 * sd(cars$mpg), 4)))
    whole <- bayestestR::describe_posterior(fit, effects = "all", component = "all")
    check_that("describe_posterior", identical(whole$Parameter, colnames(draws)) && near(whole$Median, unname(apply(draws, 2, median))))
})
with_package("parameters", {
    table <- parameters::model_parameters(fit)
    check_that("model_parameters", inherits(table, "parameters_model") && near(table$Median, unname(apply(draws, 2, median))) && length(suppressMessages(capture.output(print(table)))) > 6)
})
with_package("posterior", check_that("summarise_draws", near(posterior::summarise_draws(fit)$median, unname(apply(draws, 2, median)))))
with_package("bayesplot", check_that("rhat and neff", near(unname(bayesplot::rhat(fit)), unname(fit$figures[, "rhat"])) && near(unname(bayesplot::neff_ratio(fit)), unname(fit$figures[, "ess_bulk"]) / nrow(draws))))
with_package("generics", {
    rows <- generics::augment(fit)
    check_that("augment", near(rows$.resid, residuals(fit)) && near(generics::augment(fit, newdata = cars[2:3, ])$.fitted, predict(fit, cars[2:3, ])))
})

# ---- by the documented generics of packages that are not there ----
long <- sbps:::epred_draws.sbps(fit, cars[1:2, ], ndraws = 3)
check_that("tidybayes", identical(dim(as.data.frame(long))[1], 6L) && near(long$.epred, as.vector(posterior_epred(fit, newdata = cars[1:2, ], draws = 3))) && all(c(".chain", ".iteration", ".draw") %in% names(sbps:::tidy_draws.sbps(fit))))
effects <- sbps:::get_predict.sbps(fit, cars[1:2, ])
check_that("marginaleffects", identical(dim(attr(effects, "posterior_draws")), c(2L, nrow(draws))) && near(effects$estimate, apply(posterior_epred(fit, newdata = cars[1:2, ]), 2, median)))
end()
