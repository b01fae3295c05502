#!/usr/bin/python3
"""scikit-learn's own checks of its estimators hold for ours. Two of them have a target that is a column: sigma then has no
posterior, and the library says so."""
import sys

from common import main, sbps, unittest

try:
    from sklearn.utils.estimator_checks import check_estimator
except ImportError as missing:
    print("skipped:", missing)
    sys.exit(77)

from sbps.sklearn import SbpsClassifier, SbpsRegressor  # noqa: E402


EXACT = ("check_estimators_dtypes", "check_regressors_no_decision_function")


class Checks(unittest.TestCase):
    def check(self, estimator, without=()):
        for one, check in check_estimator(estimator, generate_only=True):
            with self.subTest(check=check.func.__name__):
                if check.func.__name__ in without:
                    self.assertRaisesRegex(sbps.NoMode, "the columns predict 'y' perfectly", check, one)
                else:
                    check(one)

    def test_regressor(self):
        self.check(SbpsRegressor(), without=EXACT)

    def test_classifier(self):
        self.check(SbpsClassifier())


if __name__ == "__main__":
    main(warnings="ignore")  # those of scikit-learn about itself
