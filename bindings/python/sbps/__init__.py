"""Posterior sampling for tables too big for ordinary MCMC.

>>> import sbps
>>> fit = sbps.fit("y ~ x", {"x": [1, 2, 3, 4, 5], "y": [1.1, 1.9, 3.2, 3.9, 5.1]}, family="gaussian", seed=1)
>>> print(fit.diagnose()["findings"])
[]

`fit` draws from a posterior, `read` reads a saved fit; both return a `Fit`. docs/python.md is the guide."""
from ._fit import Fit, fit, kinds, read
from ._model import Model
from ._report import Report
from .errors import (BadArg, BadData, BadFile, Diverged, Interrupted, Mismatch, NoFile, NoMem, NoMode, SbpsError, SbpsWarning)

__version__ = "0.2.0"
__all__ = ["BadArg", "BadData", "BadFile", "Diverged", "Fit", "Interrupted", "Mismatch", "Model", "NoFile", "NoMem", "NoMode", "Report",
           "SbpsError", "SbpsWarning", "fit", "kinds", "read"]
