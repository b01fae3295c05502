"""Errors of the library: its message, and its status as the class.

>>> import sbps
>>> try:
...     sbps.fit("y ~ x", "no-such-file.csv", family="bernoulli")
... except sbps.NoFile as error:
...     print(error.status)
SBPS_NO_FILE
"""
from __future__ import annotations


class SbpsError(Exception):
    """Any error of the library. `str(error)` is the message of the command line."""

    status = ""


class BadArg(SbpsError, ValueError):
    """An argument or option is out of range, or unknown."""

    status = "SBPS_BAD_ARG"


class BadFile(SbpsError, ValueError):
    """A malformed input file."""

    status = "SBPS_BAD_FILE"


class BadData(SbpsError, ValueError):
    """The data do not fit the model."""

    status = "SBPS_BAD_DATA"


class NoFile(SbpsError, OSError):
    """A file cannot be opened, read or written."""

    status = "SBPS_NO_FILE"


class NoMem(SbpsError, MemoryError):
    """Out of memory."""

    status = "SBPS_NO_MEM"


class NoMode(SbpsError, ArithmeticError):
    """No mode of the posterior was found."""

    status = "SBPS_NO_MODE"


class Mismatch(SbpsError, ValueError):
    """A checkpoint belongs to another run."""

    status = "SBPS_MISMATCH"


class Diverged(SbpsError, ArithmeticError):
    """The path left the finite numbers."""

    status = "SBPS_DIVERGED"


class Interrupted(SbpsError):
    """The call was stopped on request."""

    status = "SBPS_INTERRUPTED"


class SbpsWarning(UserWarning):
    """A warning about a run, such as chains that do not agree."""


BY_STATUS = (None, BadArg, BadFile, BadData, NoFile, NoMem, NoMode, Mismatch, Diverged, Interrupted)
