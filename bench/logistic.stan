// Logistic regression of the paper's 7.1: no intercept, prior normal(0, 10) on every weight.
data {
  int<lower=0> n;
  int<lower=1> d;
  matrix[n, d] x;
  int<lower=0, upper=1> y[n];
}
parameters {
  vector[d] w;
}
model {
  w ~ normal(0, 10);
  y ~ bernoulli_logit_glm(x, 0, w);
}
