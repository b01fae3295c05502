/* A group of many rows as a polynomial, so that a look at it does not ask its rows. At the reference let the group's
 * effects u have mean c and covariance W W', let r = (weights, auxiliaries) - those of the reference, and l(u, r) =
 * sum_i weight_i log p_i. Their mode moves by -K r, K = l_uu^-1 l_ur, and beside that
 *
 *   l(u, r) = F(t, r),   W t = u + K r - c,
 *   F(t, r) = sum_a He_a(t) (P_a + S_a.r + r'Q_a r / 2)                                              (1)
 *
 * with products of Hermite polynomials up to degree D for P, D - 2 for S and D - 4 for Q: r is small where there are
 * many groups. t is so wide that the effects' posterior has sd 1/POLYNOMIAL_STRETCH in it; beyond the points that it was
 * fitted at, |t_i| <= edge, there is no sketch and next to nothing of the posterior. Columns that are both of x and of z have no S and no Q: r is a shift of u alone. P, S and Q are means
 * over the normal law of t (the least squares fit under it), by quadrature. For the files of this folder. */
#ifndef MODEL_GROUP_POLYNOMIAL_H
#define MODEL_GROUP_POLYNOMIAL_H

#include "model/mixed/group_view.h"
#include "model/mixed/hermites.h"
#include "table/rows.h"

#define POLYNOMIAL_POINTS ((size_t)256) /* nodes that they are seen at, at most */

#define POLYNOMIAL_STRETCH 1.3

struct group_polynomials {
    hermites h;
    double edge;
    size_t outer;              /* numbers of r */
    size_t slopes, curvatures; /* terms of S and of Q */
    size_t size;               /* doubles a group */
    double *reference, *reach; /* of r: where it is 0, and how far it may be from there */
    double *of;                /* groups * size */
};

/* Parts of one. */
typedef struct {
    double *fits;      /* 1 or 0: rows are asked */
    double *inverse;   /* q * q: W^-1 */
    double *centre;    /* q: c */
    double *response;  /* q * outer: K */
    double *value;     /* P */
    double *slope;     /* slopes * outer */
    double *curvature; /* bends * packed triangle of outer */
} group_polynomial;

group_polynomial polynomial_of(const group_polynomials *s, size_t group);
size_t polynomial_outer(const mixed *m);
/* Index in phi of a number of r. */
size_t polynomial_coordinate(const mixed *m, size_t j);

/* polynomial_fit.c: no coordinates beside those of (1)? */
bool polynomial_is_complete(const mixed *m);
/* All but what is allocated. */
void polynomials_shape(const mixed *m, group_polynomials *s);
/* Of all groups around w, where posterior sds are as given; the groups' centres are kept as well. None
 * where rows take less room, which is no failure. */
sbps_status polynomials_fit(mixed *m, const rows *groups, const double *w, const double *sd,
                            sbps_error *err);
void polynomials_destroy(group_polynomials *s);

/* The functions of view.h and marginal.h, by sketches. */
void polynomial_begin(group_view *v);
void polynomial_products(
    group_view *v); /* v->p.r being known: whether it is near, and its products */
/* False: the group's rows must be asked. */
bool polynomial_locate(group_view *v, size_t g, double *log_size);
void polynomial_heights(group_view *v, size_t points, const double *place, double *heights);
/* v->pull, and v->outer: the gradient by r. */
void polynomial_pulls(group_view *v);

/* polynomial_expand.c: what expand.c has of each node, and of all nodes. */
typedef struct {
    double *score;            /* points * dim, but for the coordinates of the spread */
    double *pull, *curvature; /* points * effects, points * effects^2 */
    double *
        hessian; /* dim * dim, lower triangle, but for what two coordinates of the spread have */
} expansion_sums;

size_t polynomial_expand_scratch(const mixed *m);
/* After group_value: all are added to. */
void polynomial_expand(const group_view *v, double *scratch, const expansion_sums *to);

#endif
