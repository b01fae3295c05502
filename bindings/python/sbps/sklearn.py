"""Estimators for scikit-learn: linear and logistic regression by their posteriors.

>>> from sbps.sklearn import SbpsRegressor
>>> model = SbpsRegressor(seed=1).fit([[1.0], [2.0], [3.0], [4.0]], [1.1, 1.9, 3.2, 3.9])
>>> bool(abs(model.predict([[5.0]])[0] - 5) < 1)
True
"""
from __future__ import annotations

import warnings
from typing import Any, Optional

import numpy
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from ._fit import Fit, fit
from .errors import NoMode, SbpsWarning

try:
    from sklearn.utils.validation import validate_data
except ImportError:  # before scikit-learn 1.6
    def validate_data(estimator: Any, *arrays: Any, **how: Any) -> Any:
        return estimator._validate_data(*arrays, **how)

TARGET = "y"
EXACT = 1e-6  # relative: residuals of this size are rounding errors, also of 32-bit floats


def columns_of(matrix: Any) -> dict[str, Any]:
    return {f"x{j}": matrix[:, j] for j in range(matrix.shape[1])}


def exact_fit(matrix: Any, target: Any) -> Any:
    """The intercept and weights of minimal norm that fit exactly; None if there are none."""
    whole = numpy.column_stack([numpy.ones(len(matrix)), matrix]).astype(float)
    weights = numpy.linalg.lstsq(whole, target.astype(float), rcond=None)[0]
    residual = numpy.abs(whole @ weights - target).max()
    return weights if residual <= EXACT * max(1.0, numpy.abs(target).max()) else None


class Estimator(BaseEstimator):
    """The common part of both: numeric input, a fit in `fit_`. Parameters are those of `sbps.fit`; the default seed
    gives the same result each time."""

    def __init__(self, prior: Optional[str] = None, ess: Optional[float] = None, seed: int = 1) -> None:
        self.prior = prior
        self.ess = ess
        self.seed = seed

    def _draw(self, matrix: Any, target: Any, family: str) -> Fit:
        return fit(f"{TARGET} ~ .", {TARGET: target, **columns_of(matrix)}, family=family, prior=self.prior,
                   ess=self.ess, seed=self.seed)

    def _mean(self, X: Any) -> Any:
        """Means of the response; `[row, class]` where there are classes."""
        check_is_fitted(self)
        matrix = validate_data(self, X, reset=False)
        rows = self.fit_.predict(columns_of(matrix), max_draws=0)
        means = rows["mean"].to_numpy() if hasattr(rows, "to_numpy") else numpy.array([row["mean"] for row in rows])
        return means.reshape(len(matrix), -1)


class SbpsRegressor(RegressorMixin, Estimator):
    """Linear regression; `predict` gives posterior means."""

    def fit(self, X: Any, y: Any) -> "SbpsRegressor":
        """Draw from the posterior of the coefficients; `fit_` has the draws.

        If the columns predict the target without error, the residual sd has no posterior. The limit as the sd goes to 0
        is the exact fit: `predict` then uses `exact_`, `fit_` is None, and a warning is issued."""
        matrix, target = validate_data(self, X, y, y_numeric=True, ensure_min_samples=2)
        self.exact_ = None
        try:
            self.fit_ = self._draw(matrix, target.astype(float), "gaussian")
        except NoMode as why:
            self.exact_, self.fit_ = exact_fit(matrix, target), None
            if self.exact_ is None:
                raise
            warnings.warn(f"{why}: predictions are those of the exact fit", SbpsWarning, stacklevel=2)
        return self

    def predict(self, X: Any) -> Any:
        """The posterior mean of each row."""
        check_is_fitted(self)
        if self.exact_ is None:
            return self._mean(X)[:, 0]
        matrix = validate_data(self, X, reset=False)
        return matrix @ self.exact_[1:] + self.exact_[0]


class SbpsClassifier(ClassifierMixin, Estimator):
    """Logistic regression; for more than two classes, with a row of coefficients for each."""

    def fit(self, X: Any, y: Any) -> "SbpsClassifier":
        """Draw from the posterior of the coefficients; `fit_` has the draws."""
        matrix, target = validate_data(self, X, y, ensure_min_samples=2)
        check_classification_targets(target)
        self.classes_, codes = numpy.unique(target, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError("SbpsClassifier: there is one class, expected at least two")
        self.fit_ = self._draw(matrix, codes, "bernoulli" if len(self.classes_) == 2 else "categorical")
        return self

    def predict_proba(self, X: Any) -> Any:
        """Posterior means of the probabilities, a column for each of `classes_`."""
        means = self._mean(X)
        return means if means.shape[1] > 1 else numpy.hstack([1 - means, means])

    def predict(self, X: Any) -> Any:
        """The most probable class of each row."""
        best = self.predict_proba(X).argmax(axis=1)
        return self.classes_[best]
