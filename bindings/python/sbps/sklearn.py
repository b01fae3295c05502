"""Estimators for scikit-learn: regressions of any family by their posteriors.

>>> from sbps.sklearn import SbpsRegressor
>>> model = SbpsRegressor(seed=1).fit([[1.0], [2.0], [3.0], [4.0]], [1.1, 1.9, 3.2, 3.9])
>>> bool(abs(model.predict([[5.0]])[0] - 5) < 1)
True
>>> mean, std = model.predict([[5.0]], return_std=True)
>>> mean.shape, model.coef_.shape, bool(std[0] > 0)
((1,), (1,), True)
"""
from __future__ import annotations

import re
import warnings
from typing import Any, Dict, List, Optional, Sequence, Tuple, Union

import numpy
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, column_or_1d

from . import _tables
from ._fit import Fit, fit
from ._formula import in_r
from .errors import BadArg, NoMode, SbpsWarning

try:
    from sklearn.utils.validation import validate_data
except ImportError:  # before scikit-learn 1.6
    def validate_data(estimator: Any, *arrays: Any, skip_check_array: bool = False, **how: Any) -> Any:
        if skip_check_array:
            estimator._check_feature_names(arrays[0], reset=how["reset"])
            estimator._check_n_features(arrays[0], reset=how["reset"])
            return arrays[0]
        return estimator._validate_data(*arrays, **how)

TARGET = "y"
WEIGHTS = "(weights)"
EXACT = 1e-6  # relative: residuals of this size are rounding errors, also of 32-bit floats
MONTE_CARLO = "estimates of two runs agree within their Monte Carlo error, not to seven digits"
XFAIL = {name: MONTE_CARLO for name in ("check_sample_weight_equivalence_on_dense_data", "check_sample_weights_invariance")}
"""Checks of scikit-learn's check_estimator that compare two runs more exactly than samples can agree."""


def is_frame(X: Any) -> bool:
    return hasattr(X, "columns") and (hasattr(X, "dtypes") or hasattr(X, "schema"))


def has_texts(X: Any) -> bool:
    """Whether a data frame has columns that are not numbers."""
    if hasattr(X, "select_dtypes"):  # pandas
        return not all(getattr(kind, "kind", "O") in "iufb" for kind in X.dtypes)
    return not all(getattr(kind, "is_numeric", lambda: True)() for kind in getattr(X, "dtypes", []))


def exact_fit(matrix: Any, target: Any) -> Any:
    """The intercept and weights of minimal norm that fit exactly; None if there are none."""
    whole = numpy.column_stack([numpy.ones(len(matrix)), matrix]).astype(float)
    weights = numpy.linalg.lstsq(whole, target.astype(float), rcond=None)[0]
    residual = numpy.abs(whole @ weights - target).max()
    return weights if residual <= EXACT * max(1.0, numpy.abs(target).max()) else None


class Estimator(BaseEstimator):
    """The common part of both. `fit_` is the fit, a `sbps.Fit`; the default seed gives the same result each time.

    prior, ess, seed, chains, family: as in `sbps.fit`. formula: `"y ~ x + C(g) + (1 | shop)"`, of columns of a data frame,
    or of x0, x1, ... of an array; the response may be left out, `"~ x"`. None: all columns. groups: columns whose levels
    get an effect each, by their names, in an array by their numbers; the same as `(1 | g)` in a formula. new_levels:
    "prior" predicts levels that were not in the fit by draws from their prior, "error" refuses them. options: other
    options of `sbps.fit`, a dict."""

    def __init__(self, prior: Optional[str] = None, ess: Optional[float] = None, seed: int = 1, *, family: Optional[str] = None,
                 formula: Optional[str] = None, groups: Union[str, int, Sequence[Union[str, int]], None] = None,
                 chains: int = 4, new_levels: str = "prior", options: Optional[Dict[str, Any]] = None) -> None:
        self.prior = prior
        self.ess = ess
        self.seed = seed
        self.family = family
        self.formula = formula
        self.groups = groups
        self.chains = chains
        self.new_levels = new_levels
        self.options = options

    def _more_tags(self) -> Dict[str, Any]:  # before scikit-learn 1.6
        return {"_xfail_checks": XFAIL}

    def __sklearn_tags__(self) -> Any:
        return super().__sklearn_tags__()

    def _rows(self, X: Any) -> Any:
        """Rows to predict: a matrix of numbers, or the data frame that they are."""
        check_is_fitted(self)
        return validate_data(self, X, reset=False, **({"skip_check_array": True} if self._keeps_frame(X) else {}))

    def _rows_and_target(self, X: Any, y: Any, **how: Any) -> Tuple[Any, Any]:
        """Rows to fit, and the target."""
        if not self._keeps_frame(X) or y is None:
            rows, target = validate_data(self, X, y, ensure_min_samples=2, **how)
            return rows, target
        return validate_data(self, X, reset=True, skip_check_array=True), column_or_1d(y, warn=True)

    def _keeps_frame(self, X: Any) -> bool:
        return is_frame(X) and (self.formula is not None or self.groups is not None or has_texts(X))

    def _columns(self, rows: Any) -> Any:
        """The rows with names of columns: those of the data frame of the fit, or x0, x1, ..."""
        if is_frame(rows):
            return rows
        names = getattr(self, "feature_names_in_", None)
        return {str(name): rows[:, j] for j, name in enumerate(self._names(rows.shape[1]) if names is None else names)}

    @staticmethod
    def _names(count: int) -> List[str]:
        return [f"x{j}" for j in range(count)]

    def _formula(self, columns: Sequence[str]) -> Tuple[str, str]:
        """The formula, and the name of its target."""
        target = TARGET
        while target in columns:
            target += "_"
        groups = [] if self.groups is None else [self.groups] if isinstance(self.groups, (str, int)) else list(self.groups)
        named = [columns[one] if isinstance(one, int) and 0 <= one < len(columns) else str(one) for one in groups]
        for one in named:
            if one not in columns:
                raise BadArg(f"groups: there is no column {one!r}")
        bars = "".join(f" + (1 | `{one}`)" for one in named)
        if self.formula is None:
            return f"{target} ~ .{bars}", target
        response, tilde, terms = self.formula.partition("~")
        if not tilde:
            response, terms = "", self.formula
        response = response.strip().strip("`")
        if response and (not re.fullmatch(r"[A-Za-z_.][A-Za-z0-9_.]*", response) or response in columns):
            raise BadArg(f"formula: the response is the argument y of fit: write ~{terms}")
        return f"{response or target} ~{terms}{bars}", response or target

    def _draw(self, rows: Any, target: Any, family: str, sample_weight: Any) -> Fit:
        data = self._columns(rows)
        formula, response = self._formula([str(name) for name in (data.columns if is_frame(data) else data)])
        more = {response: target}
        how: Dict[str, Any] = dict(self.options or {})
        if sample_weight is not None:
            more[WEIGHTS], how["weights"] = sample_weight, WEIGHTS
        if "|" in in_r(formula):
            how.setdefault("ranef", "all")
        how.setdefault("missing", "error")
        how.setdefault("progress", False)
        self.formula_ = formula
        return fit(formula, _tables.take(data, None, more), family=family, prior=self.prior, ess=self.ess, seed=self.seed,
                   chains=self.chains, **how)

    def _weights(self, sample_weight: Any, X: Any) -> Any:
        if sample_weight is None:
            return None
        return _check_sample_weight(sample_weight, numpy.empty((len(X), 1)))

    def _predicted(self, X: Any, kind: str) -> Dict[str, Any]:
        """Columns of predictions; `[row, class]` where there are classes."""
        rows = self._rows(X)
        made = self.fit_.predict(self._columns(rows), kind, max_draws=0, new_levels=self.new_levels)
        if not hasattr(made, "to_numpy"):
            made = {name: numpy.array([row[name] for row in made]) for name in ("mean", "sd")}
        return {name: numpy.asarray(made[name]).reshape(len(rows), -1) for name in ("mean", "sd")}


class SbpsRegressor(RegressorMixin, Estimator):
    """Regression of numbers; `predict` gives posterior means.

    family: "gaussian" (None), "poisson", "negbinomial", "Gamma", "Beta", "student", ... `coef_` and `intercept_` are
    posterior means; `coef_names_` names the coefficients.

    >>> import numpy
    >>> X = numpy.arange(40.0).reshape(-1, 1) % 10
    >>> counts = SbpsRegressor(family="poisson", chains=2).fit(X, numpy.arange(40) % 10)
    >>> counts.score(X, numpy.arange(40) % 10) > 0.8
    True
    """

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "SbpsRegressor":
        """Draw from the posterior of the coefficients; `fit_` has the draws. sample_weight: a weight for each row, which
        multiplies its log likelihood.

        If the columns predict the target without error, the residual sd has no posterior. The limit as the sd goes to 0
        is the exact fit: `predict` then uses `exact_`, `fit_` is None, and a warning is issued."""
        rows, target = self._rows_and_target(X, y, y_numeric=True)
        weights = self._weights(sample_weight, rows)
        family = self.family or "gaussian"
        self.exact_: Any = None
        self.fit_: Any = None
        try:
            self.fit_ = self._draw(rows, numpy.asarray(target, dtype=float), family, weights)
        except NoMode as why:
            usable = family == "gaussian" and not is_frame(rows) and self.formula is None and self.groups is None
            kept = slice(None) if weights is None else weights > 0
            self.exact_ = exact_fit(rows[kept], target[kept]) if usable else None
            if self.exact_ is None:
                raise
            warnings.warn(f"{why}: predictions are those of the exact fit", SbpsWarning, stacklevel=2)
        self._set_coefficients()
        return self

    def _set_coefficients(self) -> None:
        if self.exact_ is not None:
            self.intercept_, self.coef_ = float(self.exact_[0]), self.exact_[1:]
            self.coef_names_ = list(self._columns(self.exact_[None, 1:]))
            return
        self.intercept_, self.coef_names_, self.coef_ = coefficients(self.fit_)

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """The posterior mean of each row. return_std: also the standard deviation of a new outcome, as in scikit-learn's
        BayesianRidge; with it, a pair of arrays."""
        check_is_fitted(self)
        if self.exact_ is not None:
            rows = self._rows(X)
            mean = rows @ self.exact_[1:] + self.exact_[0]
            return (mean, numpy.zeros(len(mean))) if return_std else mean
        means = self._predicted(X, "mean")
        if not return_std:
            return means["mean"][:, 0]
        if (self.family or "gaussian") == "gaussian":
            sigma = self.fit_.draws[:, :, self.fit_.names.index("sigma")]
            return means["mean"][:, 0], numpy.sqrt(means["sd"][:, 0] ** 2 + (sigma ** 2).mean())
        return means["mean"][:, 0], self._predicted(X, "outcome")["sd"][:, 0]


class SbpsClassifier(ClassifierMixin, Estimator):
    """Logistic regression; for more than two classes, with a row of coefficients for each, 0 for a class of reference.

    family: "bernoulli" or "categorical" by the number of classes (None); "cumulative" for ordered classes."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "SbpsClassifier":
        """Draw from the posterior of the coefficients; `fit_` has the draws. sample_weight: a weight for each row, which
        multiplies its log likelihood."""
        rows, target = self._rows_and_target(X, y)
        weights = self._weights(sample_weight, rows)
        check_classification_targets(target)
        self.classes_, codes = numpy.unique(target, return_inverse=True)
        if len(numpy.unique(codes if weights is None else codes[weights > 0])) < 2:
            raise ValueError("SbpsClassifier: there is one class in the rows whose weight is not 0, expected at least two")
        self.fit_ = self._draw(rows, codes, self.family or ("bernoulli" if len(self.classes_) == 2 else "categorical"), weights)
        self._set_coefficients()
        return self

    def _set_coefficients(self) -> None:
        means = {name: one.mean for name, one in zip(self.fit_.names, self.fit_._parameters()) if self.fit_._is_fixed(one)}
        if any(":" in name and name.split(":")[0].isdigit() for name in means) and len(self.classes_) > 2:
            split = {tuple(name.split(":", 1)): value for name, value in means.items()}
            self.intercept_ = numpy.zeros(len(self.classes_))
            names = list(dict.fromkeys(column for _, column in split))
            self.coef_names_ = [name for name in names if name not in INTERCEPTS]
            self.coef_ = numpy.zeros((len(self.classes_), len(self.coef_names_)))
            for (code, column), value in split.items():
                if column in INTERCEPTS:
                    self.intercept_[int(code)] = value
                else:
                    self.coef_[int(code), self.coef_names_.index(column)] = value
            return
        intercept, self.coef_names_, coef = coefficients(self.fit_)
        self.intercept_, self.coef_ = numpy.array([intercept]), coef[None, :]

    def predict_proba(self, X: Any) -> Any:
        """Posterior means of the probabilities, a column for each of `classes_`."""
        means = self._predicted(X, "mean")["mean"]
        return means if means.shape[1] > 1 else numpy.hstack([1 - means, means])

    def predict(self, X: Any) -> Any:
        """The most probable class of each row."""
        best = self.predict_proba(X).argmax(axis=1)
        return self.classes_[best]


INTERCEPTS = ("intercept", "(Intercept)")


def coefficients(made: Fit) -> Tuple[float, List[str], Any]:
    """Posterior means: the intercept, 0 if there is none; names and values of the coefficients."""
    parts = [(name, one.part, one.mean) for name, one in zip(made.names, made._parameters())]
    intercept = next((mean for _, part, mean in parts if part == b"intercept"), 0.0)
    fixed = [(name, mean) for name, part, mean in parts if part == b"coefficient"]
    return intercept, [name for name, _ in fixed], numpy.array([mean for _, mean in fixed])
