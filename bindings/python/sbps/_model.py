"""A model as a function of a block of rows, which returns the log density and gradient of each."""
from __future__ import annotations

import ctypes
from ctypes import c_char_p, c_double, sizeof
from typing import Any, Callable, Optional, Sequence

from . import _library as lib
from .errors import BadArg

DOUBLE_BYTES = sizeof(c_double)


class Model:
    """A user-defined likelihood, for `sbps.fit(..., model=...)`.

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
    ['(Intercept)', 't']
    >>> bool(abs(fit.summary().loc["t", "mean"] - 2) < 0.5)
    True
    """

    def __init__(self, rows: Callable[[Any, Any, Any], tuple[Any, Any]], parameters: Optional[Sequence[str]] = None, *,
                 start: Optional[Sequence[float]] = None, prior_sd: Any = None, name: Optional[str] = None) -> None:
        if not callable(rows):
            raise BadArg(f"a model is a function of w, x and y, not {type(rows).__name__}")
        if isinstance(parameters, str):
            raise BadArg("parameters: expected a list of names, not one string")
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
            raise BadArg(f"{what} needs the argument parameters, the names of the parameters")
        numbers = [float(given)] * len(self.parameters) if isinstance(given, (int, float)) else [float(v) for v in given]
        if len(numbers) != len(self.parameters):
            raise BadArg(f"{what}: {len(numbers)} numbers for {len(self.parameters)} parameters")
        return numbers


def plain_name(rows: Any) -> str:
    name = getattr(rows, "__name__", "") or type(rows).__name__
    return name.strip("<>").replace("/", "_")


class Bound:
    """A model in the form that the library calls, for one run. `failure` is the first exception of the function."""

    def __init__(self, model: Model, is_over: Callable[[], bool]) -> None:
        try:
            import numpy
        except ImportError:
            raise BadArg("a model as a function needs numpy") from None
        self.numpy, self.model, self.is_over = numpy, model, is_over
        self.failure: Optional[BaseException] = None
        names = [one.encode("utf-8") for one in model.parameters or ()]
        self._keep = [(c_char_p * len(names))(*names), numbers(model.start), numbers(model.prior_sd),
                      lib.RowsFunction(self._evaluate)]
        self.struct = lib.ModelFunction(struct_size=sizeof(lib.ModelFunction), name=model.name.encode("utf-8"),
                                        rows=self._keep[3], dim=len(names), start=self._keep[1],
                                        prior_sd=self._keep[2])
        if names:
            self.struct.names = self._keep[0]

    def _evaluate(self, _: Any, batch: Any) -> bool:
        request = batch.contents
        try:
            if self.is_over():
                return False
            self._fill(request)
            return True
        except BaseException as failure:  # no exception may propagate into the library
            self.failure = self.failure or failure
            message = f"{type(failure).__name__}: {failure}".encode("utf-8", "replace")[:request.text_size - 1]
            ctypes.memmove(request.text, message + b"\0", len(message) + 1)
            return False

    def _fill(self, request: Any) -> None:
        """Calls the function on the rows of a request and copies its values into it."""
        n, dim, columns = request.n, request.dim, request.columns
        values = self.model.rows(self._array(request.w, dim), self._array(request.x, n * columns).reshape(n, columns),
                                 self._array(request.y, n))
        if not isinstance(values, tuple) or len(values) != 2:
            raise BadArg(f"the model returns {type(values).__name__}, expected two arrays: log densities and gradients")
        self._copy("log densities", values[0], request.loglik, (n,))
        self._copy("gradients", values[1], request.gradient, (n, dim))

    def _array(self, address: int, count: int) -> Any:
        """A read-only copy, which the function may keep."""
        return self.numpy.frombuffer(ctypes.string_at(address, count * DOUBLE_BYTES))

    def _copy(self, what: str, returned: Any, to: Optional[int], shape: tuple[int, ...]) -> None:
        values = self.numpy.ascontiguousarray(returned, dtype="float64")
        if values.shape != shape:
            raise BadArg(f"the model returns {what} of shape {values.shape} for {shape[0]} rows, expected {shape}")
        if to:
            ctypes.memmove(to, values.ctypes.data, values.nbytes)


def numbers(values: Optional[Sequence[float]]) -> Any:
    return None if values is None else (c_double * len(values))(*values)
