#!/usr/bin/env bash
# An interrupt ends an endless run, and the fit has its draws.
. "$(dirname "$0")/common.sh"
install_package
cat >endless.R <<'R'
library(sbps)
fit <- sbps(mpg ~ wt, mtcars, ess = 1e12, progress = TRUE)
stopifnot(fit$interrupted, nobs(fit) == 32, dim(as.matrix(fit))[1] > 0, all(is.finite(coef(fit))))
cat("kept", coef(fit), "\n")
R
mkfifo messages
Rscript --vanilla endless.R >out.txt 2>messages &
r=$!
# Progress is printed after carriage returns: the signal is sent long after warm-up. The rest is read so that the pipe does
# not fill up.
{
    while read -r -d $'\r' round; do
        ess=$(sed -n 's/.*ESS \([0-9]*\) .*/\1/p' <<<"$round")
        [ "${ess:-0}" -lt 20000 ] || break
    done
    kill -INT "$r"
    cat >rest.txt
} <messages
code=0
wait "$r" || code=$?
grep -a 'kept' out.txt || { echo "code $code"; tail -c 600 rest.txt; exit 1; }
grep -aq 'interrupted: the fit has the draws so far' rest.txt

# The same while a function of R is the model: it interrupts itself.
cat >own.R <<'R'
library(sbps)
calls <- 0
rows <- function(w, x, y) {
    calls <<- calls + 1
    if (calls == 60000) tools::pskill(Sys.getpid(), tools::SIGINT)
    eta <- drop(x %*% w)
    list(loglik = y * eta - log1p(exp(eta)), gradient = (y - plogis(eta)) * x)
}
fit <- sbps(am ~ wt, mtcars, family = sbps_model(rows, prior_sd = c(10, 2.5)), ess = 1e12, chains = 1)
stopifnot(fit$interrupted, all(is.finite(coef(fit))))
cat("kept", coef(fit), "\n")
R
Rscript --vanilla own.R >out.txt 2>&1 || { tail -n 5 out.txt; exit 1; }
grep -q kept out.txt
grep -q 'interrupted: the fit has the draws so far' out.txt
