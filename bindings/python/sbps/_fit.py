"""A fit: draws from a posterior, and functions of them."""
from __future__ import annotations

import ctypes
import math
import os
import sys
import tempfile
import threading
import warnings
import weakref
from ctypes import byref, c_size_t, c_void_p
from functools import cached_property
from typing import Any, Callable, Iterator, Optional, Sequence, Union

from . import _library as lib
from . import _tables
from ._model import Model
from ._progress import bar
from ._report import Report, frame, html_table, rows_of
from ._sampling import Outcome, Sampling, as_text, sample
from .errors import BadArg, SbpsWarning

DRAWS_PREDICTED = 1000
DRAWS_SCORED = 4000
RHAT_CONVERGED = 1.01  # Vehtari et al. (2021)
Path = Union[str, bytes, "os.PathLike[Any]"]


def distinct(names: Sequence[str]) -> Iterator[str]:
    """The names, with a number appended to duplicates."""
    given, used = set(names), set()
    for name in names:
        number, unused = 0, name
        while unused in used or (number and unused in given):
            number += 1
            unused = f"{name}.{number}"
        used.add(unused)
        yield unused


class Fit:
    """Draws from a posterior. Made by `sbps.fit` and `sbps.read`.

    >>> import sbps
    >>> x = [0.1 * (i % 21) - 1 for i in range(300)]
    >>> y = [int((i * 7919) % 100 < 50 + 30 * v) for i, v in enumerate(x)]
    >>> fit = sbps.fit("y ~ x", {"x": x, "y": y}, family="bernoulli", seed=1, ess=200)
    >>> fit.names
    ['intercept', 'x']
    >>> fit.draws.shape[0], fit.draws.shape[2]
    (4, 2)
    >>> bool(fit.summary().loc["x", "mean"] > 0.5)
    True
    """

    def __init__(self, outcome: Outcome, table: _tables.Table, origin: bytes = b"the fit") -> None:
        self._result = outcome.result
        self._table = table
        self._origin = origin  # for messages
        self._lock = threading.RLock()  # a run may be used by one thread at a time
        self._free = weakref.finalize(self, lib.plain, "result_destroy", outcome.result)
        self.chosen: str = outcome.chosen
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
                return restored, (file.read(), self.chosen, self.notes, self.interrupted)

    @cached_property
    def names(self) -> list[str]:
        """The parameters, in the order of the last index of `draws`."""
        return [one.name.decode("utf-8", "replace") for one in self._parameters()]

    def _parameters(self) -> list[lib.Parameter]:
        with self._lock:
            parameters = [lib.Parameter() for _ in range(lib.plain("result_dim", self._result))]
            for index, parameter in enumerate(parameters):
                lib.call("result_parameter", self._result, index, byref(parameter))
            return parameters

    @cached_property
    def draws(self) -> Any:
        """All draws, `[chain, draw, parameter]`: an array if numpy is installed, else lists."""
        with self._lock:
            shape = [lib.plain("result_" + part, self._result) for part in ("chains", "draws", "dim")]
            values = lib.plain("result_values", self._result)
            flat = values[:math.prod(shape)] if not has_numpy() else None
            return nested(flat, shape) if flat is not None else copied(values, shape)

    def summary(self) -> Any:
        """Mean, sd, quantiles, ESS, R-hat and stated bias of each parameter: a data frame by name if pandas is
        installed, else a list of dicts."""
        return frame(self._rows(), "name")

    def _rows(self) -> list[dict]:
        return rows_of(self._text_of("result_summary", lib.CSV))

    def _text_of(self, name: str, *arguments: Any, trailing: tuple = ()) -> str:
        with self._lock:
            return lib.text_of(name, self._result, *arguments, trailing=trailing)

    def __repr__(self) -> str:
        """The text of `sbps summary`."""
        return self._text_of("result_summary", lib.TEXT).rstrip("\n")

    def _repr_html_(self) -> str:
        return html_table(self._rows())

    def diagnose(self) -> Report:
        """Problems of the run and what to do about them, as `sbps diagnose` prints them.

        `fit.diagnose()["findings"]` is a list, empty if there are none."""
        return Report(self._text_of("result_findings"),
                      lambda: self._text_of("result_diagnose", trailing=(byref(c_size_t()),)))

    def to_netcdf(self, path: Path) -> None:
        """Write the run as `sbps sample -o` does, for `sbps.read`, the command line, ArviZ and xarray. The ending
        chooses the format: `.nc`, `.stan.csv` or `.csv`."""
        with self._lock:
            lib.call("result_write", self._result, os.fsencode(path))

    def to_xarray(self) -> Any:
        """The draws as an `xarray.Dataset`, as in the group `posterior` of the file: `w(chain, draw, coef)`."""
        import xarray

        chains, draws, _ = self.draws.shape
        return xarray.Dataset({"w": (("chain", "draw", "coef"), self.draws)},
                              coords={"chain": range(chains), "draw": range(draws), "coef": self.names})

    def to_inferencedata(self) -> Any:
        """The draws as ArviZ' `InferenceData` with the group `posterior`, each parameter a variable of its name. A
        parameter with the name of a column, such as sigma, gets a number: sigma.1. Needs ArviZ."""
        import arviz

        return arviz.from_dict(posterior={name: self.draws[:, :, j] for j, name in enumerate(distinct(self.names))})

    def predict(self, new: Any, kind: str = "mean", draws: bool = False, *, names: Optional[Sequence[str]] = None,
                new_levels: str = "error", max_draws: int = DRAWS_PREDICTED, seed: int = 1, threads: int = 0,
                interval: float = 0.9) -> Any:
        """Predictions for the rows of `new`, in any form that `sbps.fit` takes.

        kind: "mean" of the response, "linear" predictor, a new "outcome", or the log "density" of the row's
        outcome. Returns mean, sd, median and the ends of the central interval of each row, as a data frame if pandas is installed, else as a list
        of dicts; with `draws=True` all draws, an array
        `[row, draw]`, for models of classes `[row, class, draw]`. See docs/predict.md."""
        pieces: list[bytes] = []
        take = lib.Take(lambda _, piece, count: pieces.append(ctypes.string_at(piece, count)) or True)
        if not 0 < interval < 1:
            raise BadArg(f"interval: {interval:g}: expected a number between 0 and 1")
        sizes = counts(max_draws=max_draws, seed=seed, threads=threads)
        rows, done = _tables.take(new, names).rows(), lib.Predicted()
        how = lib.Prediction(kind=kind.encode(), new_levels=new_levels.encode(), draws=draws, take=take,
                             frame=rows.frame, interval=interval, **sizes)
        with self._lock:
            lib.call("predict", self._result, self._origin, rows.path, byref(how), byref(done))
        if done.all_levels_new:
            warnings.warn("the fit stores no group effects: every level was treated as a new one; fit with ranef=\"all\" to store them",
                          SbpsWarning, stacklevel=2)
        lines = rows_of(b"".join(pieces).decode("utf-8"))
        return drawn(lines) if draws else frame(lines, "row")

    def score(self, new: Any, *, names: Optional[Sequence[str]] = None, max_draws: int = DRAWS_SCORED, seed: int = 1,
              threads: int = 0) -> Report:
        """Scores of predictions for held-out rows, as `sbps score` prints them; see docs/score.md."""
        return self._on_rows("score", _tables.take(new, names), None, max_draws, seed, threads)

    def loo(self, data: Any = None, *, names: Optional[Sequence[str]] = None, rows: Optional[int] = None,
            max_draws: int = DRAWS_SCORED, seed: int = 1, threads: int = 0) -> Report:
        """Leave-one-out on the fit's own table, as `sbps loo` prints it; see docs/loo.md.

        data: the table, if it is not that of the fit. rows: the number of rows to evaluate; 0: all; None: all where
        that is cheap, else a sample."""
        return self._on_rows("loo", self._own(data, names), rows, max_draws, seed, threads)

    def check(self, data: Any = None, *, names: Optional[Sequence[str]] = None, rows: Optional[int] = None,
              max_draws: int = DRAWS_SCORED, seed: int = 1, threads: int = 0) -> Report:
        """Problems of the model with these rows, and what to do, as `sbps check` prints them; see docs/check.md."""
        return self._on_rows("check", self._own(data, names), rows, max_draws, seed, threads)

    def report(self, path: Path, data: Any = None, *, names: Optional[Sequence[str]] = None) -> None:
        """Write the run as one page of HTML; with `data`, its own table, also checks of the rows. See docs/report.md."""
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


def scoring(table: Any, rows: Optional[int], max_draws: int, seed: int, threads: int) -> lib.Scoring:
    return lib.Scoring(frame=table, **counts(rows=lib.SIZE_MAX if rows is None else rows, max_draws=max_draws,
                                             seed=seed, threads=threads))


def counts(**given: int) -> dict[str, int]:
    """Checks that whole numbers are not negative; ctypes would convert negative ones to large ones."""
    for name, value in given.items():
        if isinstance(value, bool) or not hasattr(value, "__index__") or value < 0:
            raise BadArg(f"{name}: {value!r} is out of range: expected a whole number N >= 0")
    return {name: int(value) for name, value in given.items()}


def has_numpy() -> bool:
    try:
        import numpy  # noqa: F401
    except ImportError:
        return False
    return True


def copied(values: Any, shape: list[int]) -> Any:
    import numpy

    return numpy.ctypeslib.as_array(values, shape).copy()


def nested(flat: list[float], shape: list[int]) -> list:
    """Nested lists of the given shape."""
    if len(shape) == 1:
        return flat
    part = math.prod(shape[1:])
    return [nested(flat[i * part:(i + 1) * part], shape[1:]) for i in range(shape[0])]


def drawn(rows: list[dict]) -> Any:
    """The columns draw1, draw2, ... of predictions, with a dimension for classes if there are any."""
    values = [[value for name, value in row.items() if name not in ("row", "class")] for row in rows]
    classes = sum(row["row"] == rows[0]["row"] for row in rows) if rows and "class" in rows[0] else 0
    if classes:
        values = [values[i:i + classes] for i in range(0, len(values), classes)]
    if not has_numpy():
        return values
    import numpy

    return numpy.array(values, dtype=float)


def restored(content: bytes, chosen: str, notes: list[str], interrupted: bool) -> Fit:
    """The fit that was pickled."""
    with tempfile.TemporaryDirectory(prefix="sbps-") as folder:
        path = os.path.join(folder, "run.nc")
        with open(path, "wb") as file:
            file.write(content)
        made = read(path)
    made._origin, made.chosen, made.notes, made.interrupted = b"the fit", chosen, notes, interrupted
    return made


def read(path: Path) -> Fit:
    """The fit that `to_netcdf` or `sbps sample -o` wrote to a `.nc` file."""
    name = os.fsencode(path)
    result = lib.made("result_read", name)
    data = lib.plain("result_data", result)
    table = _tables.take(os.fsdecode(data)) if data else _tables.NoTable()
    return Fit(Outcome(result, "", []), table, name)


def fit(formula: Optional[str] = None, data: Any = None, family: Optional[str] = None, *,
        model: Union[str, Model, Callable, None] = None, names: Optional[Sequence[str]] = None,
        prior: Optional[str] = None, seed: Optional[int] = None, ess: Optional[float] = None,
        progress: Optional[bool] = None, **options: Any) -> Fit:
    """Draw from the posterior of a model given a table. Nothing needs tuning.

    formula: as in R, `"y ~ x + (1|g)"`; see docs/formula.md.
    data: a file name (or several), a dict of columns, a pandas data frame, a matrix of numpy or scipy.sparse with
    `names` of its columns, or anything with `__arrow_c_stream__` or `__dataframe__`.
    family: as in R: "gaussian", "bernoulli", "poisson", ... None: bernoulli for a target with two labels or the numbers
    0 and 1, gaussian for other numbers; the choice is printed.
    model: in place of a family, the name of a model as on the command line, or a function `rows(w, x, y)` that
    returns log densities and gradients (see `sbps.Model`).
    prior: prior of the coefficients, such as "normal(0,2.5)". seed: the same seed gives the same draws. ess: the run stops
    at this effective sample size.
    progress: show a progress line on standard error; None: only if standard error is a terminal.
    options: all other options of the command line, with _ for -, such as `chains=2`, `prior_sigma="exponential(1)"`.

    The command line gives the same draws for the same table, options and seed, to the last bit. Ctrl-C ends the run
    and keeps its draws.

    >>> import sbps
    >>> fit = sbps.fit("y ~ x", {"x": [1, 2, 3, 4, 5], "y": [1.1, 1.9, 3.2, 3.9, 5.1]}, family="gaussian", seed=1)
    >>> fit.names
    ['intercept', 'x', 'sigma']
    """
    own = model if isinstance(model, Model) else Model(model) if callable(model) else None
    given = {"formula": formula, "family": family, "model": None if own else model, "prior": prior, "seed": seed,
             "ess": ess, **options}
    if any(value is not None and not isinstance(value, str) for value in (formula, family)):
        raise BadArg("formula and family are strings, such as \"y ~ x\" and \"bernoulli\"")
    table = _tables.take(data, names)
    if "ordinal" in (family, model) or family == "cumulative":
        check_order(table, options.get("target") or (formula or "").partition("~")[0].strip(" `"), options.get("levels"))
    outcome = sample(Sampling(table, given, bar(progress), own))
    made = Fit(outcome, table)
    if progress is not False:
        print_choices(made)
    keep_call(made, {**given, "model": own.name if own else model})
    issue_warnings(made, outcome.warnings, outcome.budget)
    return made


def check_order(table: _tables.Table, target: str, levels: Any) -> None:
    """Fails for a target of categories without an order: their alphabetical order would be taken for one."""
    for column in getattr(table, "columns", ()):
        if column.name == target and not column.ranked and not levels:
            raise BadArg(f"column '{target}' has categories without an order: make it an ordered Categorical "
                         f"(ordered=True, categories from lowest to highest), or pass levels=[...]")


def print_choices(made: Fit) -> None:
    """Prints what the user should know of the table: rows that were dropped, and a family that was chosen."""
    lines = [note for note in made.notes if "left out" in note]
    lines += [f"family {line.split(None, 1)[1]}" for line in made.chosen.splitlines() if line.startswith("  family ")]
    for line in lines:
        print("sbps:", lib.in_python(line), file=sys.stderr)


def keep_call(made: Fit, given: dict) -> None:
    """Records the call in the run file."""
    arguments = ", ".join(f"{name}={as_text(value)!r}" for name, value in given.items() if value is not None)
    lib.call("result_set_command", made._result, f"sbps.fit({arguments})".encode("utf-8"))


def issue_warnings(made: Fit, messages: Sequence[str], budget: float) -> None:
    """Issues the warnings that the command line prints at the end, and those of the run."""
    for message in [*messages, *convergence_warnings(made._parameters(), budget)]:
        warnings.warn(message, SbpsWarning, stacklevel=3)


def convergence_warnings(parameters: Sequence[lib.Parameter], budget: float) -> Iterator[str]:
    """Warnings about the largest R-hat and the largest stated bias."""
    more = "; call diagnose() of the fit for details"
    rhats = [one.rhat for one in parameters if not math.isnan(one.rhat)]
    if not rhats:
        yield "too few draws to check whether the chains agree"
    elif max(rhats) > RHAT_CONVERGED:
        yield f"the chains have not converged: R-hat {max(rhats):.3f} > {RHAT_CONVERGED:.2f}{more}"
    biases = [one for one in parameters if not math.isnan(one.bias)]
    worst = max(biases, key=lambda one: abs(one.bias), default=None)
    if worst is not None and abs(worst.bias) > budget:
        yield f"the stated bias of {abs(worst.bias):.4f} posterior sd is above the budget of {budget:g}{more}"
    elif any(abs(one.bias) + 2 * one.bias_se > budget for one in biases):
        yield (f"the stated bias of {abs(worst.bias):.4f} +- {worst.bias_se:.4f} posterior sd may be above the budget "
               f"of {budget:g}{more}")
