"""A fit: draws from a posterior, and functions of them."""
from __future__ import annotations

import json
import math
import os
import sys
import tempfile
import threading
import warnings
import weakref
from ctypes import byref, c_char_p, c_size_t, c_void_p
from functools import cached_property
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple, Union

from . import _library as lib
from . import _tables
from ._arviz import groups_of, inference_data
from ._columns import is_of
from ._effects import in_order, named_effects
from ._formula import in_r
from ._messages import in_python
from ._model import Model
from ._optional import optional_module
from ._predictions import Received
from ._progress import bar
from ._report import Report, frame, html_table, rows_of
from ._sampling import Outcome, Sampling, as_text, sample
from .errors import BadArg, BadData, SbpsError, SbpsWarning

DRAWS_PREDICTED = 1000
DRAWS_SCORED = 4000
Path = Union[str, bytes, "os.PathLike[Any]"]


COEFFICIENTS = ("intercept", "coefficient")
ELSEWHERE = {  # names in statsmodels, bambi, PyMC and scikit-learn
    "params": "fit.coef", "coef_": "fit.coef", "bse": "fit.summary()[\"sd\"]", "conf_int": "fit.summary()[[\"q5\", \"q95\"]]",
    "cov_params": "fit.vcov()", "random_effects": "fit.ranef()", "fittedvalues": "fit.predict(data)[\"mean\"]",
    "posterior": "fit.to_inferencedata().posterior", "waic": "fit.loo()", "plot": "arviz.plot_trace(fit.to_inferencedata())"}
LISTS = ("models", "families", "samplers", "priors")
ARRAYS = ("weights", "offset")  # arguments of fit that may be arrays; the table then has columns of their names in parentheses


class Fit:
    """Draws from a posterior. Made by `sbps.fit` and `sbps.read`.

    >>> import sbps
    >>> x = [0.1 * (i % 21) - 1 for i in range(300)]
    >>> y = [int((i * 7919) % 100 < 50 + 30 * v) for i, v in enumerate(x)]
    >>> fit = sbps.fit("y ~ x", {"x": x, "y": y}, family="bernoulli", seed=1, ess=200)
    >>> fit.names
    ['(Intercept)', 'x']
    >>> fit.draws.shape[0], fit.draws.shape[2]
    (4, 2)
    >>> bool(fit.summary().loc["x", "mean"] > 0.5)
    True
    """

    def __init__(self, outcome: Outcome, table: _tables.Table, origin: bytes = b"the fit", index: Any = None,
                 arrays: Sequence[str] = ()) -> None:
        self._result = outcome.result
        self._table = table
        self._origin = origin  # for messages
        self._index = index  # of the data frame of the fit, or None
        self._arrays = tuple(arrays)  # which of ARRAYS were given as arrays
        self._lock = threading.RLock()  # a run may be used by one thread at a time
        self._free = weakref.finalize(self, lib.plain, "result_destroy", outcome.result)
        self.formula: Optional[str] = None
        """The formula of the call; None if there was none, or if the fit was read from a file."""
        self.chosen: str = in_python(outcome.chosen)
        """Description of the run: priors, sizes, sampler and its settings. Empty for a fit that was read from a file."""
        self.notes: list[str] = outcome.notes
        """Notes on how the table was read."""
        self.interrupted: bool = outcome.interrupted
        """Whether Ctrl-C ended the run early."""

    def __reduce__(self) -> Any:
        """A copy has the content of the run file; of its table only the file name, if it was a file."""
        with tempfile.TemporaryDirectory(prefix="sbps-") as folder:
            path = os.path.join(folder, "run.nc")
            self.to_netcdf(path)
            with open(path, "rb") as file:
                state = {"chosen": self.chosen, "notes": self.notes, "interrupted": self.interrupted, "formula": self.formula,
                         "_arrays": self._arrays}
                return restored, (file.read(), state)

    @cached_property
    def names(self) -> list[str]:
        """The parameters, in the order of the last index of `draws`."""
        return [name for name, _ in self._kinds]

    def _parameters(self) -> list[lib.Parameter]:
        """The summaries of all parameters but effects of groups, which come last."""
        with self._lock:
            parameters = [lib.Parameter() for _, part in self._kinds if part != "effect"]
            for index, parameter in enumerate(parameters):
                lib.call("result_parameter", self._result, index, byref(parameter))
            return parameters

    @cached_property
    def draws(self) -> Any:
        """All draws, `[chain, draw, parameter]`: an array if numpy is installed, else lists."""
        with self._lock:
            shape = [lib.plain("result_" + part, self._result) for part in ("chains", "draws", "dim")]
            values = lib.plain("result_values", self._result)
            if optional_module("numpy") is None:
                return nested(values[:math.prod(shape)], shape)
            return copied(values, shape)

    def summary(self, ranef: bool = False) -> Any:
        """Mean, sd, quantiles, ESS, R-hat and stated bias of each parameter: a data frame by name if pandas is
        installed, else a list of dicts. `ranef`: also the effects of single levels of groups. `print(fit)` has formula,
        family and rows above the same numbers, `fit.facts` the settings and costs of the run.

        >>> import sbps
        >>> data = {"x": [1, 2, 3, 4, 5], "y": [1.1, 1.9, 3.2, 3.9, 5.1]}
        >>> fit = sbps.fit("y ~ x", data, family="gaussian", seed=1)
        >>> round(float(fit.summary().loc["x", "mean"]))
        1
        """
        return frame(self._rows(ranef), "name")

    def _rows(self, effects: bool = True) -> list[dict[str, Any]]:
        rows = rows_of(self._text_of("result_summary", lib.CSV))
        if effects:
            return rows
        return [row for row, one in zip(rows, self._parameters()) if one.part != b"effect"]

    def _text_of(self, name: str, *arguments: Any, trailing: Tuple[Any, ...] = ()) -> str:
        with self._lock:
            return lib.text_of(name, self._result, *arguments, trailing=trailing)

    @cached_property
    def _kinds(self) -> List[Tuple[str, str]]:
        """Name and part of each parameter."""
        made, part = [], c_char_p()
        with self._lock:
            for index in range(lib.plain("result_dim", self._result)):
                name = lib.plain("result_name", self._result, index, byref(part))
                made.append((name.decode("utf-8", "replace"), (part.value or b"").decode()))
        return made

    def _statistic(self, name: str) -> Any:
        """A statistic of every draw, [chain, draw]."""
        with self._lock:
            shape = [lib.plain("result_" + part, self._result) for part in ("chains", "draws")]
            return copied(lib.plain("result_stat", self._result, name.encode()), shape)

    @cached_property
    def facts(self) -> Dict[str, Any]:
        """Facts about the run: model, sampler, rows, chains, counts and times.

        >>> import sbps
        >>> fit = sbps.fit("y ~ x", {"x": [1, 2, 3, 4, 5], "y": [1.1, 1.9, 3.2, 3.9, 5.1]}, family="gaussian", seed=1)
        >>> fit.facts["rows"], fit.facts["chains"]
        (5, 4)
        """
        whole: Dict[str, Any] = json.loads(self._text_of("result_summary", lib.JSON))
        facts: Dict[str, Any] = whole["run"]
        return facts

    @property
    def coef(self) -> Any:
        """Posterior means of the intercept and the coefficients: a pandas Series if pandas is installed, else a dict.

        >>> import sbps
        >>> fit = sbps.fit("y ~ x", {"x": [1, 2, 3, 4, 5], "y": [1.1, 1.9, 3.2, 3.9, 5.1]}, family="gaussian", seed=1)
        >>> len(fit.coef), round(float(fit.coef["x"]))
        (2, 1)
        """
        means = {self.names[j]: one.mean for j, one in enumerate(self._parameters()) if self._is_fixed(one)}
        pandas = optional_module("pandas")
        return means if pandas is None else pandas.Series(means, name="mean", dtype=float)

    def _is_fixed(self, parameter: lib.Parameter) -> bool:
        return parameter.part.decode() in COEFFICIENTS

    def vcov(self) -> Any:
        """Covariances of the intercept and the coefficients over the draws: a data frame if pandas is installed, else
        an array. Needs numpy.

        >>> import sbps
        >>> fit = sbps.fit("y ~ x", {"x": [1, 2, 3, 4, 5], "y": [1.1, 1.9, 3.2, 3.9, 5.1]}, family="gaussian", seed=1)
        >>> fit.vcov().shape
        (2, 2)
        """
        numpy = optional_module("numpy")
        if numpy is None:
            raise BadArg("vcov needs numpy")
        fixed = [j for j, one in enumerate(self._parameters()) if self._is_fixed(one)]
        values = numpy.atleast_2d(numpy.cov(self.draws[:, :, fixed].reshape(-1, len(fixed)), rowvar=False))
        pandas = optional_module("pandas")
        if pandas is None:
            return values
        names = [self.names[j] for j in fixed]
        return pandas.DataFrame(values, index=names, columns=names)

    def ranef(self, what: str = "mean") -> Dict[str, Any]:
        """Group effects by factor: a data frame with a row for each level and a column for each effect if pandas is
        installed, else a dict of dicts. what: a column of the summary, such as "mean", "sd", "q5" or "q95"; only "mean"
        and "sd" where there are too many effects to keep their draws (option ranef, docs/groups.md).

        >>> import sbps
        >>> data = {"y": [1.0, 1.2, 3.1, 2.9, 2.0, 2.1] * 5, "g": ["a", "a", "b", "b", "c", "c"] * 5}
        >>> fit = sbps.fit("y ~ 1 + (1 | g)", data, family="gaussian", seed=1, ess=100)
        >>> list(fit.ranef()["g"].index)
        ['a', 'b', 'c']
        """
        sds = [one for one in self._kinds if one[1] == "sd"]
        if not sds:
            raise BadArg("the model has no group effects: write (1 | g) in the formula")
        try:
            rows = rows_of(self._text_of("result_effects", lib.CSV))
        except BadData:
            raise BadArg("the fit stores no group effects: fit with ranef=\"all\" to store them") from None
        effects = named_effects([(row["name"], "effect") for row in rows] + sds)
        if what not in rows[0] or what == "name":
            raise BadArg(f"what: {what!r} is not a column of the summary: expected one of "
                         + ", ".join(name for name in rows[0] if name != "name"))
        made: Dict[str, Any] = {}
        for group in in_order(one.group for one in effects):
            table: Dict[str, Dict[str, float]] = {}
            for one in effects:
                if one.group == group:
                    table.setdefault(one.column, {})[one.level] = rows[one.place][what]
            made[group] = frame_of(table, group)
        return made

    def contrast(self, *expressions: str) -> Any:
        """Posteriors of functions of the parameters, as `sbps contrast` prints them (docs/contrast.md): a data frame by
        expression if pandas is installed, else a list of dicts.

        >>> import sbps
        >>> fit = sbps.fit("y ~ x", {"x": [1, 2, 3, 4, 5], "y": [1.1, 1.9, 3.2, 3.9, 5.1]}, family="gaussian", seed=1)
        >>> made = fit.contrast("exp(x)", "x > 0.5")
        >>> float(made.loc["x > 0.5", "mean"]) > 0.9
        True
        """
        if not expressions or not all(isinstance(one, str) for one in expressions):
            raise BadArg("contrast: expected expressions of parameters as strings, such as \"x1 - x2\"")
        texts = (c_char_p * len(expressions))(*[one.encode("utf-8") for one in expressions])
        return frame(rows_of(self._text_of("result_contrast", texts, len(expressions), lib.CSV)), "expression")

    def compare(self, *others: "Fit", labels: Optional[Sequence[str]] = None, data: Any = None,
                names: Optional[Sequence[str]] = None, rows: Optional[int] = None, max_draws: int = DRAWS_SCORED, seed: int = 1,
                threads: int = 0, group: Optional[str] = None) -> Any:
        """Compare fits to the same rows by leave-one-out, the best first, as `sbps compare` prints it (docs/loo.md): a
        data frame by label if pandas is installed, else a list of dicts.

        labels: names of this fit and the others; None: their formulas if these differ, else fit1, fit2, ... group: a
        grouping factor, whose levels are left out one by one instead of rows.

        >>> import sbps
        >>> data = {"x": [1, 2, 3, 4, 5, 6], "y": [1.1, 1.9, 3.2, 3.9, 5.1, 6.2]}
        >>> fits = [sbps.fit(formula, data, family="gaussian", seed=1) for formula in ("y ~ 1", "y ~ x")]
        >>> fits[0].compare(fits[1], rows=0).index[0]
        'y ~ x'
        """
        fits = (self, *others)
        if not others or not all(isinstance(one, Fit) for one in others):
            raise BadArg("compare: expected other fits")
        called = labels_of(fits, labels)
        given = self._own(data, names).rows()
        handles = (c_void_p * len(fits))(*[one._result for one in fits])
        texts = (c_char_p * len(fits))(*[one.encode("utf-8") for one in called])
        with self._lock:
            text = lib.text_of("compare", handles, texts, len(fits), given.path,
                               byref(scoring(given.frame, rows, max_draws, seed, threads, group)), lib.JSON)
        return frame([{**one, **{name: numeric(value) for name, value in one.items() if name != "run"}}
                      for one in json.loads(text)], "run")

    def __getattr__(self, name: str) -> Any:
        """Names that other packages have for what a fit has."""
        if name in ELSEWHERE:
            raise AttributeError(f"a fit of sbps has no {name}: use {ELSEWHERE[name]}")
        raise AttributeError(f"'Fit' object has no attribute '{name}'")

    def __repr__(self) -> str:
        """The text of `sbps summary`."""
        return in_python(self._text_of("result_summary", lib.TEXT).rstrip("\n"))

    def _repr_html_(self) -> str:
        return html_table(self._rows(effects=False))

    def diagnose(self) -> Report:
        """Problems of the run and what to do about them, as `sbps diagnose` prints them.

        `fit.diagnose()["findings"]` is a list, empty if there are none.

        >>> import sbps
        >>> data = {"x": [1, 2, 3, 4, 5], "y": [1.1, 1.9, 3.2, 3.9, 5.1]}
        >>> fit = sbps.fit("y ~ x", data, family="gaussian", seed=1)
        >>> fit.diagnose()["findings"]
        []
        """
        return Report(self._text_of("result_findings"),
                      lambda: self._text_of("result_diagnose", trailing=(byref(c_size_t()),)))

    def to_netcdf(self, path: Path) -> None:
        """Write the run as `sbps sample -o` does, for `sbps.read`, the command line, ArviZ and xarray. The ending
        chooses the format: `.nc`, `.stan.csv` or `.csv`.

        >>> import sbps
        >>> data = {"x": [1, 2, 3, 4, 5], "y": [1.1, 1.9, 3.2, 3.9, 5.1]}
        >>> fit = sbps.fit("y ~ x", data, family="gaussian", seed=1)
        >>> fit.to_netcdf("run.nc")
        >>> sbps.read("run.nc").names == fit.names
        True
        """
        with self._lock:
            lib.call("result_write", self._result, os.fsencode(path))

    def to_xarray(self) -> Any:
        """The draws as an `xarray.Dataset`, as in the group `posterior` of the file: `w(chain, draw, coef)`.

        >>> import sbps
        >>> data = {"x": [1, 2, 3, 4, 5], "y": [1.1, 1.9, 3.2, 3.9, 5.1]}
        >>> fit = sbps.fit("y ~ x", data, family="gaussian", seed=1)
        >>> fit.to_xarray()["w"].dims
        ('chain', 'draw', 'coef')
        """
        import xarray

        chains, draws, _ = self.draws.shape
        return xarray.Dataset({"w": (("chain", "draw", "coef"), self.draws)},
                              coords={"chain": range(chains), "draw": range(draws), "coef": self.names})

    def to_inferencedata(self, *, log_likelihood: Optional[bool] = None, posterior_predictive: Optional[bool] = None) -> Any:
        """The fit for ArviZ: an `InferenceData`, with ArviZ 1.0 and later a `DataTree` of xarray.

        Groups: posterior, with a variable for each parameter and the effects of a factor g as `r_g`, by the dimensions
        g (its levels) and g__effect; sample_stats; log_likelihood and posterior_predictive, named as the target, and
        observed_data. The last three need the table of the fit. True: included, False: left out, None: included up to
        4e7 rows x draws. Classes of an outcome are numbered from 0, in the order of the attribute `classes`. A parameter
        whose name is taken gets a number: sigma.1.

        >>> import sbps
        >>> data = {"x": [1, 2, 3, 4, 5], "y": [1.1, 1.9, 3.2, 3.9, 5.1]}
        >>> fit = sbps.fit("y ~ x", data, family="gaussian", seed=1)
        >>> made = fit.to_inferencedata()
        >>> made["log_likelihood"]["y"].dims, made["observed_data"]["y"].values.tolist()
        (('chain', 'draw', 'obs_id'), [1.1, 1.9, 3.2, 3.9, 5.1])
        """
        return inference_data(groups_of(self, log_likelihood, posterior_predictive))

    def _own_draws(self, kind: str, max_draws: int) -> Tuple[Any, List[str]]:
        """Predictions of the fit's own rows, and the names of classes."""
        received = self._received(self._table.rows(), kind, True, "prior", counts(max_draws=max_draws, seed=1, threads=0), 0.9)
        classes = in_order(received.classes)
        return received.draws(), classes

    def _check_own_table(self) -> None:
        """Fails with BadData if the table of the fit is not what it was."""
        if self.loo(rows=10)["same_table"] is False:
            raise BadData("the table has changed since the fit")

    def _target_name(self) -> str:
        return self.facts.get("target") or "y"

    def _row_labels(self, rows: Any) -> Any:
        """Labels of rows of the own table, given by their places."""
        return rows if self._index is None else self._index[rows]

    def predict(self, new: Any = None, kind: str = "mean", draws: bool = False, *, names: Optional[Sequence[str]] = None,
                new_levels: str = "error", max_draws: int = DRAWS_PREDICTED, seed: int = 1, threads: int = 0,
                interval: float = 0.9, offset: Any = None) -> Any:
        """Predictions for the rows of `new`, in any form that `sbps.fit` takes; None: for those of the fit.

        kind: "mean" of the response, "linear" predictor, a new "outcome", the log "density" of the row's outcome, or that
        "response" as the model reads it. Returns mean, sd, median and the ends of the central interval of each row, as a
        data frame if pandas is installed, else as a list of dicts; with `draws=True` all draws, an array `[row, draw]`,
        for models of classes `[row, class, draw]`. The index is that of `new`, if it is a pandas data frame, else the
        number of the row from 1. offset: an array, if the fit was made with one. See docs/predict.md.

        >>> import pandas, sbps
        >>> fit = sbps.fit("y ~ x", {"x": [1, 2, 3, 4, 5], "y": [1.1, 1.9, 3.2, 3.9, 5.1]}, family="gaussian", seed=1)
        >>> round(float(fit.predict(pandas.DataFrame({"x": [6.0]}, index=["later"])).loc["later", "mean"]))
        6
        """
        if not 0 < interval < 1:
            raise BadArg(f"interval: {interval:g}: expected a number between 0 and 1")
        sizes = counts(max_draws=max_draws, seed=seed, threads=threads)
        table = self._table if new is None else _tables.take(new, names, self._more(offset=offset))
        received = self._received(table.rows(), kind, draws, new_levels, sizes, interval)
        return received.draws() if draws else received.frame(self._index if new is None else index_of(new))

    def _received(self, rows: _tables.Rows, kind: str, draws: bool, new_levels: str, sizes: Mapping[str, int],
                  interval: float) -> Received:
        received, done = Received(), lib.Predicted()
        how = lib.Prediction(kind=kind.encode(), new_levels=new_levels.encode(), draws=draws, take=received.take,
                             frame=rows.frame, interval=interval, **sizes)
        with self._lock:
            try:
                lib.call("predict", self._result, self._origin, rows.path, byref(how), byref(done))
            except SbpsError:
                if received.failure is not None:
                    raise received.failure from None
                raise
        if done.all_levels_new:
            warnings.warn("the fit stores no group effects: every level was treated as a new one; fit with ranef=\"all\" to "
                          "store them", SbpsWarning, stacklevel=3)
        return received

    def _more(self, **given: Any) -> Dict[str, Any]:
        """Columns beside those of a table, for arguments that were arrays."""
        for name, values in given.items():
            if values is not None and name not in self._arrays:
                raise BadArg(f"{name}: the fit was not made with an array of {name}: rows have it as a column, or not at all")
            if values is None and name in self._arrays:
                raise BadArg(f"{name}: the fit was made with an array of {name}: pass that of these rows, too")
        return {f"({name})": values for name, values in given.items() if values is not None}

    def score(self, new: Any = None, *, names: Optional[Sequence[str]] = None, max_draws: int = DRAWS_SCORED, seed: int = 1,
              threads: int = 0, weights: Any = None, offset: Any = None) -> Report:
        """Scores of predictions for held-out rows, as `sbps score` prints them; None: for those of the fit; see
        docs/score.md. weights, offset: arrays,
        if the fit was made with such.

        >>> import sbps
        >>> fit = sbps.fit("y ~ x", {"x": [1, 2, 3, 4, 5], "y": [1.1, 1.9, 3.2, 3.9, 5.1]}, family="gaussian", seed=1)
        >>> "elpd" in fit.score({"x": [6, 7], "y": [6.1, 6.8]})
        True
        """
        table = self._table if new is None else _tables.take(new, names, self._more(weights=weights, offset=offset))
        return self._on_rows("score", table, None, max_draws, seed, threads)

    def loo(self, data: Any = None, *, names: Optional[Sequence[str]] = None, rows: Optional[int] = None,
            max_draws: int = DRAWS_SCORED, seed: int = 1, threads: int = 0, group: Optional[str] = None) -> Report:
        """Leave-one-out on the fit's own table, as `sbps loo` prints it; see docs/loo.md.

        data: the table, if it is not that of the fit. rows: the number of rows to evaluate; 0: all; None: all where
        that is cheap, else a sample. group: a grouping factor, whose levels are left out one by one instead of rows.

        >>> import sbps
        >>> data = {"x": [1, 2, 3, 4, 5], "y": [1.1, 1.9, 3.2, 3.9, 5.1]}
        >>> fit = sbps.fit("y ~ x", data, family="gaussian", seed=1)
        >>> fit.loo()["rows"]
        5
        """
        return self._on_rows("loo", self._own(data, names), rows, max_draws, seed, threads, group)

    def check(self, data: Any = None, *, names: Optional[Sequence[str]] = None, rows: Optional[int] = None,
              max_draws: int = DRAWS_SCORED, seed: int = 1, threads: int = 0) -> Report:
        """Problems of the model with these rows, and what to do, as `sbps check` prints them; see docs/check.md.

        >>> import sbps
        >>> data = {"x": [1, 2, 3, 4, 5], "y": [1.1, 1.9, 3.2, 3.9, 5.1]}
        >>> fit = sbps.fit("y ~ x", data, family="gaussian", seed=1)
        >>> fit.check()["same_table"]
        True
        """
        return self._on_rows("check", self._own(data, names), rows, max_draws, seed, threads)

    def report(self, path: Path, data: Any = None, *, names: Optional[Sequence[str]] = None) -> None:
        """Write the run as one page of HTML; with `data`, its own table, also checks of the rows. See docs/report.md.

        >>> import sbps
        >>> data = {"x": [1, 2, 3, 4, 5], "y": [1.1, 1.9, 3.2, 3.9, 5.1]}
        >>> fit = sbps.fit("y ~ x", data, family="gaussian", seed=1)
        >>> fit.report("page.html", data)
        """
        if data is None:
            page = self._text_of("result_page", None, None, None)
        else:
            rows = _tables.take(data, names).rows()
            page = self._text_of("result_page", self._origin, rows.path,
                              byref(scoring(rows.frame, None, DRAWS_SCORED, 1, 0)))
        lib.call("text_write", page.encode("utf-8"), os.fsencode(path))

    def _own(self, data: Any, names: Optional[Sequence[str]]) -> _tables.Table:
        return self._table if data is None else _tables.take(data, names)

    def _on_rows(self, name: str, table: _tables.Table, *how: Any) -> Report:
        def render(form: int) -> str:
            rows = table.rows()
            return self._text_of(name, self._origin, rows.path, byref(scoring(rows.frame, *how)), form)

        return Report(render(lib.JSON), lambda: render(lib.TEXT))


def scoring(table: Any, rows: Optional[int], max_draws: int, seed: int, threads: int,
            group: Optional[str] = None) -> lib.Scoring:
    if group is not None and not (isinstance(group, str) and group):
        raise BadArg(f"group: {group!r} is not the name of a grouping factor")
    return lib.Scoring(frame=table, group=None if group is None else group.encode("utf-8"), **counts(rows=lib.SIZE_MAX if rows is None else rows, max_draws=max_draws,
                                             seed=seed, threads=threads))


def counts(**given: int) -> dict[str, int]:
    """Checks that whole numbers are not negative; ctypes would convert negative ones to large ones."""
    for name, value in given.items():
        if isinstance(value, bool) or not hasattr(value, "__index__") or value < 0:
            raise BadArg(f"{name}: {value!r} is out of range: expected a whole number N >= 0")
    return {name: int(value) for name, value in given.items()}


def frame_of(table: Dict[str, Dict[str, float]], index: str) -> Any:
    """A table of columns as a data frame if pandas is installed, else as it is."""
    pandas = optional_module("pandas")
    return table if pandas is None else pandas.DataFrame(table).rename_axis(index)


def numeric(value: Any) -> Any:
    """JSON's null is NaN."""
    return math.nan if value is None else value


def labels_of(fits: Sequence[Fit], labels: Optional[Sequence[str]]) -> List[str]:
    """Names of fits for a comparison."""
    if labels is not None:
        if isinstance(labels, str) or len(labels) != len(fits):
            raise BadArg(f"labels: expected a list of {len(fits)} names, for this fit and the others")
        return [str(one) for one in labels]
    formulas = [one.formula for one in fits]
    if None not in formulas and len(set(formulas)) == len(fits):
        return [str(one) for one in formulas]
    return [f"fit{i}" for i in range(1, len(fits) + 1)]


def index_of(data: Any) -> Any:
    """The index of a pandas data frame; None for other tables."""
    return data.index if is_of(data, "pandas") and hasattr(data, "columns") else None


def copied(values: Any, shape: list[int]) -> Any:
    import numpy

    return numpy.ctypeslib.as_array(values, shape).copy()


def nested(flat: list[float], shape: list[int]) -> list[Any]:
    """Nested lists of the given shape."""
    if len(shape) == 1:
        return flat
    part = math.prod(shape[1:])
    return [nested(flat[i * part:(i + 1) * part], shape[1:]) for i in range(shape[0])]


def restored(content: bytes, state: Mapping[str, Any]) -> Fit:
    """The fit that was pickled."""
    with tempfile.TemporaryDirectory(prefix="sbps-") as folder:
        path = os.path.join(folder, "run.nc")
        with open(path, "wb") as file:
            file.write(content)
        made = read(path)
    made._origin = b"the fit"
    made.__dict__.update(state)
    return made


def read(path: Path) -> Fit:
    """The fit that `to_netcdf` or `sbps sample -o` wrote to a `.nc` file.

    >>> import sbps
    >>> data = {"x": [1, 2, 3, 4, 5], "y": [1.1, 1.9, 3.2, 3.9, 5.1]}
    >>> fit = sbps.fit("y ~ x", data, family="gaussian", seed=1)
    >>> fit.to_netcdf("saved.nc")
    >>> bool((sbps.read("saved.nc").draws == fit.draws).all())
    True
    """
    name = os.fsencode(path)
    result = lib.made("result_read", name)
    data = lib.plain("result_data", result)
    table = _tables.take(os.fsdecode(data)) if data else _tables.NoTable()
    return Fit(Outcome(result, "", []), table, name)


def fit(formula: Optional[str] = None, data: Any = None, family: Optional[str] = None, *,
        model: Union[str, Model, Callable[[Any, Any, Any], Tuple[Any, Any]], None] = None, names: Optional[Sequence[str]] = None,
        prior: Optional[str] = None, seed: Optional[int] = None, ess: Optional[float] = None, weights: Any = None,
        offset: Any = None, progress: Optional[bool] = None, **options: Any) -> Fit:
    """Draw from the posterior of a model given a table. Nothing needs tuning.

    formula: as in R, `"y ~ x + (1|g)"`; see docs/formula.md. Also as in patsy: `C(g)`, `np.log(x)`, `Q("odd name")`.
    data: a file name (or several), a dict of columns, a pandas data frame, a matrix of numpy or scipy.sparse with
    `names` of its columns, or anything with `__arrow_c_stream__` or `__dataframe__`.
    family: as in R: "gaussian", "bernoulli", "poisson", ... None: bernoulli for a target with two labels or the numbers
    0 and 1, gaussian for other numbers; the choice is printed.
    model: in place of a family, the name of a model as on the command line, or a function `rows(w, x, y)` that
    returns log densities and gradients (see `sbps.Model`).
    prior: prior of the coefficients, such as "normal(0,2.5)". seed: the same seed gives the same draws. ess: the run stops
    at this effective sample size.
    weights, offset: the name of a column, or an array with a value for each row. An array of offsets is passed to
    `predict`, too.
    progress: show a progress line on standard error; None: only if standard error is a terminal.
    options: all other options of the command line, with _ for -, such as `chains=2`, `prior_sigma="exponential(1)"`.

    The command line gives the same draws for the same table, options and seed, to the last bit. Ctrl-C ends the run
    and keeps its draws.

    >>> import sbps
    >>> fit = sbps.fit("y ~ x", {"x": [1, 2, 3, 4, 5], "y": [1.1, 1.9, 3.2, 3.9, 5.1]}, family="gaussian", seed=1)
    >>> fit.names
    ['(Intercept)', 'x', 'sigma']
    """
    own = model if isinstance(model, Model) else Model(model) if callable(model) else None
    if any(value is not None and not isinstance(value, str) for value in (formula, family)):
        raise BadArg("formula and family are strings, such as \"y ~ x\" and \"bernoulli\"")
    written, formula = formula, formula and in_r(formula)
    arrays = {f"({name})": value for name, value in zip(ARRAYS, (weights, offset))
              if value is not None and not isinstance(value, str)}
    by_name = {name: f"({name})" if f"({name})" in arrays else value for name, value in zip(ARRAYS, (weights, offset))}
    given = {"formula": formula, "family": family, "model": None if own else model, "prior": prior, "seed": seed,
             "ess": ess, **by_name, **options}
    table = _tables.take(_tables.borrowed(data) if options.get("storage") == "given" else data, names, arrays)
    if "ordinal" in (family, model) or family == "cumulative":
        check_order(table, options.get("target") or (formula or "").partition("~")[0].strip(" `"), options.get("levels"))
    outcome = sample(Sampling(table, given, bar(progress), own))
    made = Fit(outcome, table, index=index_of(data), arrays=[name.strip("()") for name in arrays])
    made.formula = written
    if progress is not False:
        print_choices(made)
    keep_call(made, {**given, "model": own.name if own else model})
    issue_warnings(made, outcome.warnings)
    return made


def kinds(which: str = "models") -> Dict[str, str]:
    """The "models", "families" (models by the names of R), "samplers" or "priors" of the library, each with a sentence.

    >>> import sbps
    >>> "negative_binomial" in sbps.kinds(), "poisson" in sbps.kinds("families"), "hmc" in sbps.kinds("samplers")
    (True, True, True)
    """
    if which not in LISTS:
        raise BadArg(f"kinds: there is no list {which!r}: expected one of {', '.join(LISTS)}")
    return lib.kinds_of(which)


def check_order(table: _tables.Table, target: str, levels: Any) -> None:
    """Fails for a target of categories without an order: their alphabetical order would be taken for one."""
    for column in getattr(table, "columns", ()):
        if column.name == target and not column.ranked and not levels:
            raise BadArg(f"column '{target}' has categories without an order: make it an ordered Categorical "
                         f"(ordered=True, categories from lowest to highest), or pass levels=[...]")


def print_choices(made: Fit) -> None:
    """Prints what the user should know of the table: rows that were dropped, and a family that was chosen."""
    lines = [note for note in made.notes if "left out" in note or "dropped" in note]
    lines += [f"family {line.split(None, 1)[1]}" for line in made.chosen.splitlines() if line.startswith("  family ") and ", because" in line]
    for line in lines:
        print("sbps:", lib.in_python(line), file=sys.stderr)


def keep_call(made: Fit, given: Mapping[str, Any]) -> None:
    """Records the call in the run file."""
    arguments = ", ".join(f"{name}={as_text(value)!r}" for name, value in given.items() if value is not None)
    lib.call("result_set_command", made._result, f"sbps.fit({arguments})".encode("utf-8"))


def issue_warnings(made: Fit, messages: Sequence[str]) -> None:
    """Issues the warning that the command line prints at the end: at most one, with those of the run."""
    joined = "; ".join(dict.fromkeys(messages)).encode("utf-8")
    warning = lib.in_python(lib.text_of("result_warning", made._result, joined))
    if warning:
        warnings.warn(f"{warning}; call diagnose() of the fit for details", SbpsWarning, stacklevel=3)
