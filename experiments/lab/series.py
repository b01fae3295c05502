"""Series: autocorrelation, effective sample size, means with errors."""
import os
import sys

import numpy

sys.path.append(os.path.join(os.path.dirname(__file__), "..", "..", "bench"))
from ess import ess as chains_ess  # noqa: E402


def acf(x, lags):
    """Autocorrelation of a series at 0 .. lags - 1."""
    x = numpy.asarray(x, float) - numpy.mean(x)
    size = 1 << (2 * len(x) - 1).bit_length()
    spectrum = numpy.fft.rfft(x, size)
    c = numpy.fft.irfft(spectrum * spectrum.conj(), size)[:lags]
    return c / c[0] if c[0] > 0 else numpy.zeros(lags)


def ess(x):
    """Effective sample size of the mean of one series, by the estimator of bench/ess.py."""
    return float(chains_ess(numpy.atleast_2d(x)))


def mean_error(values):
    """Mean over seeds and its standard error."""
    values = numpy.asarray(values, float)
    error = values.std(ddof=1) / numpy.sqrt(len(values)) if len(values) > 1 else numpy.nan
    return float(values.mean()), float(error)


def median_error(values):
    """Median over runs and its standard error, from the quartiles where they are finite: lost runs,
    which may be infinite, count but do not drown the others. Not finite if half of the runs are
    lost."""
    values = numpy.sort(numpy.asarray(values, float))
    finite = values[numpy.isfinite(values)]
    middle = float(numpy.median(values)) if 2 * len(finite) > len(values) else numpy.inf
    if len(finite) < 3 or not numpy.isfinite(middle):
        return middle, numpy.nan
    spread = float(numpy.median(numpy.abs(finite - middle)))
    return middle, 1.2533 * 1.4826 * spread / numpy.sqrt(len(values))


def near_limit(pair, limit):
    """True if a result (value, standard error) is within two standard errors of a limit: no
    verdict."""
    return bool(abs(pair[0] - limit) < 2 * numpy.nan_to_num(pair[1]))
