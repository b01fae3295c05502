/* The gamma function's logarithm and its derivatives less what they are for large x: what is left is small where
 * the functions are large, so that sums of them lose nothing. With psi = (log Gamma)':
 *
 *   log Gamma(x) = (x - 1/2) log x - x + log(2 pi)/2 + gamma_rest(x)                      (1)
 *   gamma_gap(x)  = x (log x - psi(x)),   1 at x = 0, 1/2 far out                         (2)
 *   trigamma_gap(x) = x - x^2 psi'(x),     -1 at x = 0, -1/2 far out                        (3)
 *
 * x gamma_gap'(x) = gamma_gap(x) + trigamma_gap(x). All for x > 0, to 1e-13.
 *
 * Abramowitz, Stegun (1964), 6.1.40, 6.3.18, 6.4.12; below 8 after 6.3.5 and 6.4.6. */
#ifndef LINALG_GAMMA_FUNCTIONS_H
#define LINALG_GAMMA_FUNCTIONS_H

double gamma_rest(double x);
double gamma_gap(double x);
double trigamma_gap(double x);

#endif
