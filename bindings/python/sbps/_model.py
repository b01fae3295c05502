"""A model as a function of some rows: log density and gradient of each."""
from __future__ import annotations

import ctypes
from ctypes import c_char_p, c_double, sizeof
from typing import Any, Callable, Optional, Sequence

from . import _library as lib
from .errors import BadArg

DOUBLE_BYTES = sizeof(c_double)


class Model:
    """A likelihood of your own, for `sbps.fit(..., model=...)`.

    rows: a function `rows(w, x, y)` that returns two arrays: log p of each of the n rows, and its gradient in w, n by
    the number of parameters. `x` is n by columns, the intercept's 1 first (`no_intercept=True` leaves it out), `y` the
    target. The values for a row must depend on that row and `w` alone; a constant may be left out.
    parameters: their names; None: one for each column of x, with its name. start: where the search for the mode
    begins, default 0. prior_sd: default priors normal(0, prior_sd), a number or one for each; None: flat.

    >>> import numpy, sbps
    >>> def student(w, x, y):
    ...     r = y - x @ w
    ...     return -2.5 * numpy.log1p(r**2 / 4), (5 * r / (4 + r**2))[:, None] * x
    >>> t = numpy.linspace(-1, 1, 200)
    >>> fit = sbps.fit("y ~ t", {"t": t, "y": 1 + 2 * t + numpy.sin(9 * t)}, model=student, seed=1, ess=100)
    >>> fit.names
    ['intercept', 't']
    >>> bool(abs(fit.summary().loc["t", "mean"] - 2) < 0.5)
    True
    """

    def __init__(self, rows: Callable[[Any, Any, Any], tuple], parameters: Optional[Sequence[str]] = None, *,
                 start: Optional[Sequence[float]] = None, prior_sd: Any = None, name: Optional[str] = None) -> None:
        if not callable(rows):
            raise BadArg(f"a model is a function of w, x and y, and this is {type(rows).__name__}")
        if isinstance(parameters, str):
            raise BadArg("parameters is a list of names, and this is one text")
        self.rows = rows
        self.parameters = None if parameters is None else [str(one) for one in parameters]
        self.start = self._each("start", start)
        self.prior_sd = self._each("prior_sd", prior_sd)
        self.name = name or plain_name(rows)

    def _each(self, what: str, given: Any) -> Optional[list[float]]:
        """A number for each parameter."""
        if given is None:
            return None
        if self.parameters is None:
            raise BadArg(f"{what}: name the parameters that it is for")
        numbers = [float(given)] * len(self.parameters) if isinstance(given, (int, float)) else [float(v) for v in given]
        if len(numbers) != len(self.parameters):
            raise BadArg(f"{what}: {len(numbers)} numbers for {len(self.parameters)} parameters")
        return numbers


def plain_name(rows: Any) -> str:
    name = getattr(rows, "__name__", "") or type(rows).__name__
    return name.strip("<>").replace("/", "_")


class Bound:
    """A model as the library calls it, for one run. The first exception of the function is kept in `failure`."""

    def __init__(self, model: Model, is_over: Callable[[], bool]) -> None:
        try:
            import numpy
        except ImportError:
            raise BadArg("a model as a function needs numpy") from None
        self.numpy, self.model, self.is_over = numpy, model, is_over
        self.failure: Optional[BaseException] = None
        names = [one.encode("utf-8") for one in model.parameters or ()]
        self._keep = [(c_char_p * len(names))(*names), numbers(model.start), numbers(model.prior_sd),
                      lib.RowsFunction(self._answer)]
        self.struct = lib.ModelFunction(struct_size=sizeof(lib.ModelFunction), name=model.name.encode("utf-8"),
                                        rows=self._keep[3], dim=len(names), start=self._keep[1],
                                        prior_sd=self._keep[2])
        if names:
            self.struct.names = self._keep[0]

    def _answer(self, _: Any, batch: Any) -> bool:
        asked = batch.contents
        try:
            if self.is_over():
                return False
            self._say(asked)
            return True
        except BaseException as failure:  # into the library no exception may go
            self.failure = self.failure or failure
            words = f"{type(failure).__name__}: {failure}".encode("utf-8", "replace")[:asked.text_size - 1]
            ctypes.memmove(asked.text, words + b"\0", len(words) + 1)
            return False

    def _say(self, asked: Any) -> None:
        n, dim, columns = asked.n, asked.dim, asked.columns
        told = self.model.rows(self._array(asked.w, dim), self._array(asked.x, n * columns).reshape(n, columns),
                               self._array(asked.y, n))
        if not isinstance(told, tuple) or len(told) != 2:
            raise BadArg(f"the model gives {type(told).__name__}, expected two arrays: log densities and gradients")
        self._hand_over("log densities", told[0], asked.loglik, (n,))
        self._hand_over("gradients", told[1], asked.gradient, (n, dim))

    def _array(self, address: int, count: int) -> Any:
        """A copy that cannot be written to, and may be kept."""
        return self.numpy.frombuffer(ctypes.string_at(address, count * DOUBLE_BYTES))

    def _hand_over(self, what: str, told: Any, to: Optional[int], shape: tuple) -> None:
        values = self.numpy.ascontiguousarray(told, dtype="float64")
        if values.shape != shape:
            raise BadArg(f"the model gives {what} of shape {values.shape} for {shape[0]} rows, expected {shape}")
        if to:
            ctypes.memmove(to, values.ctypes.data, values.nbytes)


def numbers(values: Optional[Sequence[float]]) -> Any:
    return None if values is None else (c_double * len(values))(*values)
