# Everyday mixed models: tables of Debian's R packages, with the formulas of their help pages and of textbooks.
#
#     Rscript bench/everyday.R tables FOLDER                every table as FOLDER/NAME.csv, the list as FOLDER/models.json
#     Rscript bench/everyday.R point FOLDER NAME            lme4 (lmer, glmer) or glmmTMB: estimates and CPU seconds
#     Rscript bench/everyday.R rstanarm FOLDER NAME [ITER]  rstanarm: means, sds, MCSEs and CPU seconds
#
# The last two print JSON. They read the CSV file that sbps reads, so that categories are coded alike.
with_rstanarm <- c("dyestuff", "sleepstudy", "pastes", "toenail", "contraception", "guimmun", "cbpp", "quine", "quine_nb", "epil",
                   "owls_nb", "grouseticks2")
model <- function(name, family, data, formula, ...)
  list(name = name, family = family, data = substitute(data), formula = formula, rstanarm = name %in% with_rstanarm,
       options = list(...))
d <- function(name, package) {
  e <- new.env()
  utils::data(list = name, package = package, envir = e)
  as.data.frame(get(name, e))
}
models <- list(
  # normal, one factor
  model("dyestuff", "gaussian", d("Dyestuff", "lme4"), "Yield ~ 1 + (1 | Batch)"),
  model("dyestuff2", "gaussian", d("Dyestuff2", "lme4"), "Yield ~ 1 + (1 | Batch)"),
  model("rail", "gaussian", d("Rail", "nlme"), "travel ~ 1 + (1 | Rail)"),
  model("ergoStool", "gaussian", d("ergoStool", "nlme"), "effort ~ Type + (1 | Subject)"),
  model("gun", "gaussian", d("Gun", "nlme"), "rounds ~ Method + Physique + (1 | Team)"),
  model("npk", "gaussian", d("npk", "datasets"), "yield ~ factor(N) * factor(P) * factor(K) + (1 | block)"),
  model("petrol", "gaussian", d("petrol", "MASS"), "Y ~ SG + VP + V10 + EP + (1 | No)"),
  model("sleepstudy", "gaussian", d("sleepstudy", "lme4"), "Reaction ~ Days + (Days | Subject)"),
  model("sleepstudy_uncorrelated", "gaussian", d("sleepstudy", "lme4"), "Reaction ~ Days + (Days || Subject)"),
  model("orthodont", "gaussian", d("Orthodont", "nlme"), "distance ~ age * Sex + (age | Subject)"),
  model("bodyweight", "gaussian", d("BodyWeight", "nlme"), "weight ~ Time * Diet + (Time | Rat)"),
  model("ovary", "gaussian", d("Ovary", "nlme"), "follicles ~ sin(6.283185 * Time) + cos(6.283185 * Time) + (1 | Mare)"),
  model("chickweight", "gaussian", d("ChickWeight", "datasets"), "weight ~ Time * Diet + (Time | Chick)"),
  model("co2", "gaussian", d("CO2", "datasets"), "uptake ~ log(conc) * Type * Treatment + (1 | Plant)"),
  model("dietox", "gaussian", na.omit(d("dietox", "geepack")), "Weight ~ Time * Cu + (Time | Pig)"),
  model("sitka", "gaussian", d("Sitka", "MASS"), "size ~ Time * treat + (Time | tree)"),
  model("milk", "gaussian", d("Milk", "nlme"), "protein ~ Diet + Time + (Time | Cow)"),
  model("early", "gaussian", transform(d("Early", "mlmRev"), tos = age - 1), "cog ~ tos * trt + (tos | id)"),
  model("btheb", "gaussian", {
    b <- d("BtheB", "HSAUR3")
    b$subject <- seq_len(nrow(b))
    l <- stats::reshape(b, direction = "long", idvar = "subject", varying = paste0("bdi.", c(2, 3, 5, 8), "m"),
                        v.names = "bdi", timevar = "month", times = c(2, 3, 5, 8))
    na.omit(l)
  }, "bdi ~ bdi.pre + month + treatment + drug + length + (1 | subject)"),
  model("oxboys", "gaussian", d("Oxboys", "mlmRev"), "height ~ age + I(age^2) + (age + I(age^2) | Subject)"),
  model("exam", "gaussian", d("Exam", "mlmRev"), "normexam ~ standLRT + sex + schgend + (standLRT | school)"),
  model("hsb82", "gaussian", d("Hsb82", "mlmRev"), "mAch ~ meanses * cses + sector * cses + (cses | school)"),
  model("bdf", "gaussian", d("bdf", "mlmRev"), "langPOST ~ IQ.ver.cen + avg.IQ.ver.cen + (IQ.ver.cen | schoolNR)"),
  model("gcsemv", "gaussian", na.omit(d("Gcsemv", "mlmRev")), "written ~ gender + course + (1 | school)"),
  # normal, several factors
  model("penicillin", "gaussian", d("Penicillin", "lme4"), "diameter ~ 1 + (1 | plate) + (1 | sample)"),
  model("pastes", "gaussian", d("Pastes", "lme4"), "strength ~ 1 + (1 | batch / cask)"),
  model("cake", "gaussian", d("cake", "lme4"), "angle ~ recipe * factor(temp) + (1 | recipe:replicate)"),
  model("machines", "gaussian", d("Machines", "nlme"), "score ~ Machine + (1 | Worker / Machine)"),
  model("machines_slopes", "gaussian", d("Machines", "nlme"), "score ~ Machine + (Machine | Worker)"),
  model("oats", "gaussian", d("oats", "MASS"), "Y ~ N + V + (1 | B / V)"),
  model("pixel", "gaussian", d("Pixel", "nlme"), "pixel ~ day + I(day^2) + (day | Dog) + (1 | Dog:Side)"),
  model("assay", "gaussian", d("Assay", "nlme"), "logDens ~ sample * factor(dilut) + (1 | Block) + (1 | Block:sample) + (1 | Block:dilut)"),
  model("scotssec", "gaussian", d("ScotsSec", "mlmRev"), "attain ~ verbal + sex + (1 | primary) + (1 | second)"),
  model("egsingle", "gaussian", d("egsingle", "mlmRev"), "math ~ year * size + female + (1 | childid) + (1 | schoolid)"),
  model("egsingle_slopes", "gaussian", d("egsingle", "mlmRev"), "math ~ year * size + female + (year | childid) + (year | schoolid)"),
  model("star", "gaussian", na.omit(subset(d("star", "mlmRev"), gr == "K", c("math", "cltype", "ses", "sx", "sch", "tch"))),
        "math ~ cltype + ses + sx + (1 | sch / tch)"),
  # logistic and probit
  model("bacteria", "bernoulli", d("bacteria", "MASS"), "y ~ trt + I(week > 2) + (1 | ID)"),
  model("toenail", "bernoulli", transform(d("toenail", "HSAUR3"), outcome = as.integer(outcome == "moderate or severe")),
        "outcome ~ treatment * time + (1 | patientID)"),
  model("respiratory", "bernoulli", {
    r <- d("respiratory", "HSAUR3")
    base <- subset(r, month == 0)
    r$baseline <- base$status[match(r$subject, base$subject)]
    transform(subset(r, month != 0), status = as.integer(status == "good"))
  }, "status ~ baseline + month + treatment + gender + age + centre + (1 | subject)"),
  model("schizophrenia2", "bernoulli",
        transform(na.omit(d("schizophrenia2", "HSAUR3")), disorder = as.integer(disorder == "present")),
        "disorder ~ onset * month + (1 | subject)"),
  model("ohio", "bernoulli", d("ohio", "geepack"), "resp ~ age * smoke + (1 | id)"),
  model("kostecki", "bernoulli", d("KosteckiDillon", "carData"), "headache ~ time + hatype + airq + medication + (1 | id)"),
  model("contraception", "bernoulli", d("Contraception", "mlmRev"), "use ~ age + I(age^2) + urban + livch + (urban | district)"),
  model("contraception_probit", "binomial(probit)", transform(d("Contraception", "mlmRev"), use = as.integer(use == "Y")),
        "use ~ age + I(age^2) + urban + livch + (1 | district)"),
  model("bacteria_probit", "binomial(probit)", transform(d("bacteria", "MASS"), y = as.integer(y == "y")),
        "y ~ trt + I(week > 2) + (1 | ID)"),
  model("guimmun", "bernoulli", d("guImmun", "mlmRev"),
        "immun ~ kid2p + mom25p + ord + ethn + momEd + husEd + momWork + rural + pcInd81 + (1 | comm / mom)"),
  model("guprenat", "bernoulli", d("guPrenat", "mlmRev"),
        "prenat ~ childAge + motherAge + indig + momEd + husEd + toilet + TV + pcInd81 + (1 | cluster / mom)"),
  model("verbagg", "bernoulli", d("VerbAgg", "lme4"), "r2 ~ Anger + Gender + btype + situ + mode + (1 | id) + (1 | item)"),
  model("admissions", "bernoulli", transform(as.data.frame(datasets::UCBAdmissions), Admit = as.integer(Admit == "Admitted")),
        "Admit ~ Gender + (1 | Dept)", weights = "Freq"),
  # binomial
  model("cbpp", "binomial", d("cbpp", "lme4"), "cbind(incidence, size - incidence) ~ factor(period) + (1 | herd)"),
  model("cbpp_rows", "binomial", transform(d("cbpp", "lme4"), obs = seq_len(56)),
        "cbind(incidence, size - incidence) ~ factor(period) + (1 | herd) + (1 | obs)"),
  model("socatt", "binomial", transform(d("Socatt", "mlmRev"), numpos = as.integer(as.character(numpos))),
        "cbind(numpos, 7 - numpos) ~ factor(year) + party + class + gender + age + religion + (1 | district / respond)"),
  model("esoph", "binomial", transform(d("esoph", "datasets")),
        "cbind(ncases, ncontrols) ~ agegp + alcgp + (1 | tobgp)"),
  # counts
  model("quine", "poisson", d("quine", "MASS"), "Days ~ Sex + (1 | Lrn)"),
  model("quine_nb", "negbinomial", d("quine", "MASS"), "Days ~ Sex + Age + (1 | Eth)"),
  model("epil", "poisson", d("epil", "MASS"), "y ~ lbase * trt + lage + V4 + (1 | subject)"),
  model("epil2_nb", "negbinomial", d("epil2", "glmmTMB"), "y ~ Base * trt + Age + Visit + (Visit | subject)"),
  model("epilepsy", "poisson", d("epilepsy", "HSAUR3"), "seizure.rate ~ base + age + treatment + period + (1 | subject)"),
  model("salamanders", "poisson", d("Salamanders", "glmmTMB"), "count ~ spp * mined + (1 | site)"),
  model("salamanders_nb", "negbinomial", d("Salamanders", "glmmTMB"), "count ~ spp + mined + (1 | site)"),
  model("salamanders_zip", "zero_inflated_poisson", d("Salamanders", "glmmTMB"), "count ~ spp + mined + (1 | site)"),
  model("owls", "poisson", d("Owls", "glmmTMB"),
        "SiblingNegotiation ~ FoodTreatment * SexParent + offset(log(BroodSize)) + (1 | Nest)"),
  model("owls_nb", "negbinomial", d("Owls", "glmmTMB"),
        "SiblingNegotiation ~ FoodTreatment * SexParent + offset(log(BroodSize)) + (1 | Nest)"),
  model("owls_zip", "zero_inflated_poisson", d("Owls", "glmmTMB"),
        "SiblingNegotiation ~ FoodTreatment * SexParent + offset(log(BroodSize)) + (1 | Nest)"),
  model("mmmec", "poisson", d("Mmmec", "mlmRev"), "deaths ~ uvb + offset(log(expected)) + (1 | nation / region)"),
  model("mmmec_slopes", "poisson", d("Mmmec", "mlmRev"), "deaths ~ uvb + offset(log(expected)) + (uvb | nation)"),
  model("arabidopsis", "poisson", d("Arabidopsis", "lme4"),
        "total.fruits ~ factor(nutrient) * amd + factor(rack) + status + (1 | popu) + (1 | gen)"),
  model("arabidopsis_nb", "negbinomial", d("Arabidopsis", "lme4"),
        "total.fruits ~ factor(nutrient) * amd + factor(rack) + status + (1 | reg / popu / gen)"),
  model("grouseticks2", "poisson", d("grouseticks", "lme4"), "TICKS ~ factor(YEAR) + HEIGHT + (1 | BROOD) + (1 | LOCATION)"),
  model("grouseticks3", "poisson", d("grouseticks", "lme4"),
        "TICKS ~ factor(YEAR) + cHEIGHT + (1 | BROOD) + (1 | INDEX) + (1 | LOCATION)"),
  model("grouseticks_nb", "negbinomial", d("grouseticks", "lme4"), "TICKS ~ factor(YEAR) + cHEIGHT + (1 | BROOD) + (1 | LOCATION)"),
  # positive, shares, long tails
  model("cake_gamma", "Gamma", d("cake", "lme4"), "angle ~ recipe + temp + (1 | recipe:replicate)"),
  model("chickweight_gamma", "Gamma", d("ChickWeight", "datasets"), "weight ~ Time * Diet + (Time | Chick)"),
  model("dialyzer_gamma", "Gamma", subset(d("Dialyzer", "nlme"), rate > 0), "rate ~ pressure + I(pressure^2) + QB + (1 | Subject)"),
  model("milk_beta", "Beta", transform(d("Milk", "nlme"), share = protein / 100), "share ~ Diet + Time + (1 | Cow)"),
  model("gcsemv_beta", "Beta", transform(subset(na.omit(d("Gcsemv", "mlmRev")), course < 100), share = course / 100),
        "share ~ gender + (1 | school)"),
  model("orthodont_student", "student", d("Orthodont", "nlme"), "distance ~ age * Sex + (1 | Subject)"),
  model("sleepstudy_student", "student", d("sleepstudy", "lme4"), "Reaction ~ Days + (Days | Subject)"))

tables <- function(folder) {
  listed <- list()
  for (m in models) {
    data <- tryCatch(eval(m$data), error = function(e) { message("left out: ", m$name, ": ", conditionMessage(e)); NULL })
    if (is.null(data)) next
    write.csv(data, file.path(folder, paste0(m$name, ".csv")), row.names = FALSE)
    listed <- c(listed, list(m[c("name", "family", "formula", "options", "rstanarm")]))
  }
  jsonlite::write_json(listed, file.path(folder, "models.json"), auto_unbox = TRUE)
}

by_name <- function(name) Filter(function(m) m$name == name, models)[[1]]
table_of <- function(folder, m) read.csv(file.path(folder, paste0(m$name, ".csv")), stringsAsFactors = TRUE)
cpu <- function(expression) {
  before <- proc.time()
  value <- tryCatch(expression, error = function(e) e)
  after <- proc.time()
  list(value = value, seconds = sum((after - before)[c("user.self", "user.child")], na.rm = TRUE))
}
inner <- function(x) sub("^\\(Intercept\\)$", "Intercept", x)
# Standard deviations and correlations of a list of covariance matrices, a group each, by the names of sbps.
spread <- function(matrices) {
  out <- list()
  for (i in seq_along(matrices)) {
    s <- as.matrix(matrices[[i]])
    group <- sub("\\.[0-9]+$", "", names(matrices)[i])
    column <- inner(colnames(s))
    sds <- sqrt(diag(s))
    out[paste0("sd_", group, "__", column)] <- sds
    for (k in seq_along(sds)) for (j in seq_len(k - 1))
      out[paste0("cor_", group, "__", column[j], "__", column[k])] <- s[j, k] / (sds[j] * sds[k])
  }
  out
}
print_json <- function(...) cat(jsonlite::toJSON(list(...), auto_unbox = TRUE, digits = NA), "\n")

# lme4 where it has the family, else glmmTMB.
point <- function(folder, name) {
  m <- by_name(name)
  data <- table_of(folder, m)
  formula <- as.formula(m$formula)
  environment(formula) <- environment()
  row_weights <- if (is.null(m$options$weights)) rep(1, nrow(data)) else data[[m$options$weights]]
  with_lme4 <- list(gaussian = NULL, bernoulli = binomial(), binomial = binomial(), poisson = poisson(),
                    "binomial(probit)" = binomial("probit"))
  in_lme4 <- m$family %in% c("gaussian", names(with_lme4))
  package <- if (in_lme4) "lme4" else "glmmTMB"
  if (!requireNamespace(package, quietly = TRUE)) return(print_json(missing = package))
  fit <- if (m$family == "gaussian") cpu(lme4::lmer(formula, data))
    else if (in_lme4) cpu(lme4::glmer(formula, data, with_lme4[[m$family]], weights = if (m$family != "binomial") row_weights))
    else cpu(glmmTMB::glmmTMB(formula, data, ziformula = if (m$family == "zero_inflated_poisson") ~1 else ~0,
      family = switch(m$family, negbinomial = glmmTMB::nbinom2(), Gamma = Gamma("log"), Beta = glmmTMB::beta_family(),
                      student = glmmTMB::t_family(), zero_inflated_poisson = poisson())))
  if (inherits(fit$value, "error")) return(print_json(package = package, seconds = fit$seconds, error = conditionMessage(fit$value)))
  fixed <- if (in_lme4) lme4::fixef(fit$value) else glmmTMB::fixef(fit$value)$cond
  groups <- if (in_lme4) lme4::VarCorr(fit$value) else glmmTMB::VarCorr(fit$value)$cond
  levels <- sapply(if (in_lme4) lme4::getME(fit$value, "flist") else fit$value$modelInfo$reTrms$cond$flist, nlevels)
  values <- c(setNames(as.list(fixed), names(fixed)), spread(groups))
  print_json(package = package, seconds = fit$seconds, estimates = values, levels = as.list(levels))
}

# Mean and Monte Carlo error of draws[iteration, chain] with importance weights that sum to 1.
weighted <- function(x, w) {
  mean <- sum(w * x)
  sd <- sqrt(sum(w * (x - mean)^2))
  n <- min(posterior::ess_mean(x), length(x))
  list(mean = mean, sd = sd, mcse = sd / sqrt(n / (length(w) * sum(w^2))), rhat = posterior::rhat(x), ess = posterior::ess_bulk(x))
}

# rstanarm with the priors of sbps: normal(0, 2.5 sd(y)/sd(x)), sd(y) 1 but for normal rows; exponential(1) for standard
# deviations of groups where its `decov` is that: one effect a level and no sigma. Where it is not, draws are weighted by
# the ratio of exponential(1/sd(y)) and lkj(1) to `decov`.
rstanarm <- function(folder, name, iterations = 2000L) {
  if (!requireNamespace("rstanarm", quietly = TRUE)) return(print_json(missing = "rstanarm"))
  suppressMessages(library(rstanarm))
  m <- by_name(name)
  data <- table_of(folder, m)
  formula <- as.formula(m$formula)
  normal_rows <- m$family == "gaussian"
  sd_population <- function(v) sqrt(mean((v - mean(v))^2))
  fixed <- lme4::nobars(formula)
  x <- model.matrix(fixed, data)[, -1, drop = FALSE]
  y <- if (normal_rows) model.response(model.frame(fixed, data))
  unit <- if (normal_rows) sd_population(y) else 1
  priors <- list(prior = if (ncol(x)) normal(0, 2.5 * unit / apply(x, 2, sd_population), autoscale = FALSE),
                 prior_intercept = if (normal_rows) normal(mean(y), 10 * unit, autoscale = FALSE) else normal(0, 10, autoscale = FALSE),
                 chains = 4, iter = iterations, seed = 1, refresh = 0, cores = 1)
  families <- list(gaussian = gaussian(), bernoulli = binomial(), binomial = binomial(), poisson = poisson())
  fit <- cpu(if (m$family == "negbinomial") do.call(stan_glmer.nb, c(list(formula, data, prior_aux = exponential(1)), priors))
    else do.call(stan_glmer, c(list(formula, data, family = families[[m$family]],
      prior_aux = exponential(1 / unit, autoscale = FALSE)), priors)))
  if (inherits(fit$value, "error")) return(print_json(seconds = fit$seconds, error = conditionMessage(fit$value)))
  draws <- as.array(fit$value)
  sigma <- if (normal_rows) draws[, , "sigma"] else 1
  w <- matrix(0, dim(draws)[1], dim(draws)[2])
  values <- list()
  for (p in c("(Intercept)", colnames(x))) values[[p]] <- draws[, , p]
  if (normal_rows) values$sigma <- sigma
  if (m$family == "negbinomial") values$phi <- draws[, , "reciprocal_dispersion"]
  for (term in lme4::findbars(formula)) {
    group <- deparse(term[[3]])
    columns <- colnames(model.matrix(as.formula(call("~", term[[2]])), data))
    of <- function(a, b) {
      found <- intersect(sprintf("Sigma[%s:%s,%s]", group, c(a, b), c(b, a)), dimnames(draws)[[3]])
      draws[, , found[1]]
    }
    sds <- lapply(columns, function(a) sqrt(of(a, a)))
    for (k in seq_along(columns)) values[[paste0("sd_", group, "__", inner(columns[k]))]] <- sds[[k]]
    total <- Reduce(`+`, lapply(sds, function(s) (s / sigma)^2))
    if (length(columns) == 2) {  # decov: total = 2 tau^2, tau ~ exponential(1), the share of each uniform, lkj(1)
      values[[paste0("cor_", group, "__", inner(columns[1]), "__", inner(columns[2]))]] <-
        of(columns[1], columns[2]) / (sds[[1]] * sds[[2]])
      tau <- sqrt(total / 2)
      w <- w - (-tau - log(4 * tau) - log(total) + log(sds[[1]] * sds[[2]]) - 4 * log(sigma))
    } else w <- w - (-sds[[1]] / sigma - log(sigma))
    for (s in sds) w <- w - s / unit
  }
  w <- exp(w - max(w))
  w <- w / sum(w)
  divergent <- sum(sapply(rstan::get_sampler_params(fit$value$stanfit, inc_warmup = FALSE), function(p) sum(p[, "divergent__"])))
  print_json(seconds = fit$seconds, estimates = lapply(values, weighted, w), prior_sd = sprintf("exponential(%.17g)", 1 / unit),
             divergent = divergent, weights_ess = 1 / sum(w^2))
}

args <- commandArgs(TRUE)
switch(args[1], tables = tables(args[2]), point = point(args[2], args[3]),
       rstanarm = rstanarm(args[2], args[3], if (length(args) > 3) as.integer(args[4]) else 2000L))
