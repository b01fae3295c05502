/* The log-likelihood of a group of many rows as a polynomial, which replaces its rows.
 *
 * At a reference point let the group's effects u have mean c and covariance W W'. Let r be
 * weights and auxiliaries minus those of the reference, and l(u, r) = sum_i weight_i log p_i.
 * The mode of u moves by -K r, K = l_uu^-1 l_ur; apart from that
 *
 *   l(u, r) = F(t, r),   W t = u + K r - c,
 *   F(t, r) = sum_a He_a(t) (P_a + S_a.r + r'Q_a r / 2)                                 (1)
 *
 * with products of Hermite polynomials up to degree D for P, D - 2 for S and D - 4 for Q: r is
 * small where there are many groups. In t the effects' posterior has sd 1/POLYNOMIAL_STRETCH;
 * beyond the points of the fit, |t_i| <= edge, the polynomial is not defined and the posterior
 * is negligible. Columns of both x and z have S = Q = 0, since r only shifts u. P, S and Q are
 * means under the standard normal density of t (the least squares fit under it), by quadrature.
 * For the files of this folder. */
#ifndef MODEL_GROUP_POLYNOMIAL_H
#define MODEL_GROUP_POLYNOMIAL_H

#include "model/mixed/group_view.h"
#include "model/mixed/hermites.h"
#include "table/rows.h"

#define POLYNOMIAL_POINTS  ((size_t)256) /* points of a grid that polynomials are used with */
#define POLYNOMIAL_STRETCH 1.3

/* The polynomials of all groups. */
struct group_polynomials {
    hermites h;
    double edge;
    size_t outer;              /* numbers of r */
    size_t slopes, curvatures; /* terms of S and of Q */
    size_t size;               /* doubles per group */
    double *reference;         /* the point where r is 0, outer numbers */
    double *reach;             /* the largest |r_j| at which polynomials are used */
    double *of;                /* groups * size */
};

/* One group's polynomial: pointers into its numbers. */
typedef struct {
    double *fits;      /* 1, or 0: rows must be evaluated */
    double *inverse;   /* q * q: W^-1 */
    double *centre;    /* q: c */
    double *response;  /* q * outer: K */
    double *value;     /* P */
    double *slope;     /* slopes * outer: S */
    double *curvature; /* curvatures * packed triangle of outer: Q */
} group_polynomial;

/* Pointers to one group's numbers, which can be written through when they are fitted. */
group_polynomial polynomial_of(const group_polynomials *s, size_t group);
/* The length of r: the number of weights and auxiliaries. */
size_t polynomial_outer(const mixed *m);
/* The coordinate of w that r_j is the change of. */
size_t polynomial_coordinate(const mixed *m, size_t j);
void polynomials_destroy(group_polynomials *s); /* NULL is fine */

/* ---- the functions of group_view.h, by polynomials ---- */

/* Sets v->p.near, whether phi is within reach of the polynomials in use; and, if there are any,
 * v->p.r and its products. */
void polynomial_begin(group_view *v);
/* As group_locate. False: the group's rows must be evaluated. */
bool polynomial_locate(group_view *v, size_t g, double *log_size);
/* As group_heights, from the polynomial's value at the places; -INFINITY beyond its edge. */
void polynomial_heights(group_view *v, size_t points, const double *place, double *heights);
/* Sets v->pull, and v->outer, the gradient by r. */
void polynomial_pulls(group_view *v);

#endif
