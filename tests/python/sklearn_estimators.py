#!/usr/bin/python3
"""scikit-learn's own checks of its estimators hold for ours; and a target without an error gets the exact fit, and a
warning."""
import sys

import numpy
from common import main, sbps, unittest

try:
    from sklearn.utils.estimator_checks import check_estimator
except ImportError as missing:
    print("skipped:", missing)
    sys.exit(77)

from sbps.sklearn import SbpsClassifier, SbpsRegressor  # noqa: E402


class Checks(unittest.TestCase):
    def check(self, estimator):
        for one, check in check_estimator(estimator, generate_only=True):
            with self.subTest(check=check.func.__name__):
                check(one)

    def test_regressor(self):
        self.check(SbpsRegressor())

    def test_classifier(self):
        self.check(SbpsClassifier())

    def test_a_target_without_an_error_gets_the_exact_fit(self):
        matrix = numpy.random.default_rng(1).normal(size=(40, 3))
        target = 2 + matrix @ [1.0, -2.0, 0.5]
        with self.assertWarnsRegex(sbps.SbpsWarning, "perfectly.*: predictions are those of the exact fit"):
            made = SbpsRegressor().fit(matrix, target)
        self.assertIsNone(made.fit_)
        self.assertLess(numpy.abs(made.predict(matrix) - target).max(), 1e-9)
        noisy = SbpsRegressor().fit(matrix, target + 0.1 * numpy.sin(99 * target))
        self.assertIsNotNone(noisy.fit_)
        self.assertIsNone(noisy.exact_)


if __name__ == "__main__":
    main(warnings="ignore")  # those of scikit-learn about itself
