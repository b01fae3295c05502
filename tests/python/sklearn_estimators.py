#!/usr/bin/python3
"""scikit-learn's own checks of its estimators hold for ours; and a target without an error gets the exact fit, and a
warning."""
import contextlib
import inspect
import io
import sys
import warnings

import numpy
from common import main, sbps, unittest

try:
    from sklearn.utils.estimator_checks import check_estimator
except ImportError as missing:
    print("skipped:", missing)
    sys.exit(77)

from sklearn.base import clone  # noqa: E402
from sklearn.model_selection import GridSearchCV, cross_val_score  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import StandardScaler  # noqa: E402

from sbps.sklearn import XFAIL, SbpsClassifier, SbpsRegressor  # noqa: E402

try:
    import pandas
except ImportError:
    pandas = None


SHORT = {"chains": 2, "ess": 100}


def example(rows=300):
    random = numpy.random.default_rng(1)
    matrix = random.normal(size=(rows, 2))
    return matrix, 1 + matrix @ [2.0, -1.0] + 0.5 * random.normal(size=rows)


class Checks(unittest.TestCase):
    def check(self, estimator):
        """Every check passes, but those that need another package or compare two runs to seven digits."""
        if "expected_failed_checks" in inspect.signature(check_estimator).parameters:
            done = check_estimator(estimator, expected_failed_checks=XFAIL, on_fail=None, on_skip=None)
            failed = [(one["check_name"], one["exception"]) for one in done if one["status"] == "failed"]
            self.assertEqual(failed, [])
            self.assertLessEqual({one["check_name"] for one in done if one["status"] == "xfail"}, set(XFAIL))
            self.assertGreater(sum(one["status"] == "passed" for one in done), 40)
            return
        passed = 0
        for one, check in check_estimator(estimator, generate_only=True):  # before scikit-learn 1.6
            with self.subTest(check=getattr(check, "func", check).__name__):
                try:
                    check(one)
                    passed += 1
                except unittest.SkipTest:
                    continue
        self.assertGreater(passed, 40)

    def test_regressor(self):
        self.check(SbpsRegressor(**SHORT))

    def test_classifier(self):
        self.check(SbpsClassifier(**SHORT))

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


class Results(unittest.TestCase):
    """Attributes and parameters, compared with the fit and with least squares."""

    def setUp(self):
        self.X, self.y = example()
        self.labels = numpy.where(self.y > 1, "yes", "no")

    def test_coefficients_are_posterior_means(self):
        made = SbpsRegressor().fit(self.X, self.y)
        whole = numpy.column_stack([numpy.ones(len(self.X)), self.X])
        exact = numpy.linalg.lstsq(whole, self.y, rcond=None)[0]
        self.assertLess(numpy.abs(numpy.array([made.intercept_, *made.coef_]) - exact).max(), 0.01)
        self.assertEqual(made.coef_names_, ["x0", "x1"])
        self.assertLess(numpy.abs(made.predict(self.X) - (self.X @ made.coef_ + made.intercept_)).max(), 0.01)
        logit = SbpsClassifier().fit(self.X, self.labels)
        self.assertEqual((logit.coef_.shape, logit.intercept_.shape), ((1, 2), (1,)))
        self.assertGreater(logit.coef_[0, 0], 1)

    def test_coefficients_of_classes(self):
        three = numpy.digitize(self.y, [0.0, 2.0])
        made = SbpsClassifier().fit(self.X, three)
        self.assertEqual((made.coef_.shape, made.intercept_.shape), ((3, 2), (3,)))
        self.assertTrue(numpy.all(numpy.diff(made.coef_[:, 0]) > 0))
        eta = self.X @ made.coef_.T + made.intercept_
        self.assertGreater((eta.argmax(axis=1) == made.predict(self.X)).mean(), 0.98)
        self.assertAlmostEqual(numpy.abs(made.predict_proba(self.X).sum(axis=1) - 1).max(), 0, places=8)
        ordered = SbpsClassifier(family="cumulative").fit(self.X, three)
        self.assertGreater(ordered.score(self.X, three), 0.7)

    def test_the_sd_of_a_new_outcome(self):
        made = SbpsRegressor().fit(self.X, self.y)
        mean, std = made.predict(self.X, return_std=True)
        self.assertEqual((mean.shape, std.shape), ((300,), (300,)))
        self.assertLess(abs(std.mean() - (self.y - mean).std()), 0.03)
        counts = SbpsRegressor(family="poisson").fit(self.X, numpy.random.default_rng(2).poisson(numpy.exp(0.5 * self.X[:, 0])))
        mean, std = counts.predict(self.X, return_std=True)
        self.assertLess(numpy.abs(std / numpy.sqrt(mean) - 1).max(), 0.25)

    def test_weights_count_rows(self):
        twice = numpy.arange(300) % 3
        weighted = SbpsRegressor().fit(self.X, self.y, sample_weight=twice)
        repeated = SbpsRegressor().fit(numpy.repeat(self.X, twice, axis=0), numpy.repeat(self.y, twice))
        plain = SbpsRegressor().fit(self.X, self.y)
        self.assertLess(numpy.abs(weighted.coef_ - repeated.coef_).max(), 0.01)
        self.assertGreater(numpy.abs(weighted.coef_ - plain.coef_).max(), 0.01)

    @unittest.skipUnless(pandas, "pandas is not there")
    def test_formulas_groups_and_texts_of_data_frames(self):
        shop = numpy.array(["a", "b", "c", "d", "e"])[numpy.arange(300) % 5]
        effect = dict(zip("abcde", (-2, -1, 0, 1, 2)))
        frame = pandas.DataFrame({"x": self.X[:, 0], "odd name": self.X[:, 1], "shop": shop})
        target = self.y + frame["shop"].map(effect)
        by_groups = SbpsRegressor(groups="shop", **SHORT).fit(frame, target)
        self.assertEqual(by_groups.formula_, "y ~ . + (1 | `shop`)")
        self.assertEqual(by_groups.coef_names_, ["x", "`odd name`"])
        self.assertGreater(by_groups.score(frame, target), 0.9)
        new = frame.assign(shop="z")
        self.assertTrue(numpy.isfinite(by_groups.predict(new)).all())
        with self.assertRaisesRegex(sbps.BadData, "no level 'z' of 'shop'"):
            SbpsRegressor(groups="shop", new_levels="error", **SHORT).fit(frame, target).predict(new)
        by_formula = SbpsRegressor(formula="y ~ np.exp(x) + C(shop)", **SHORT).fit(frame, target)
        self.assertEqual(by_formula.coef_names_[0], "exp(x)")
        self.assertEqual(SbpsRegressor(formula="~ x", **SHORT).fit(frame, target).coef_names_, ["x"])
        texts = SbpsRegressor(**SHORT).fit(frame, target)
        self.assertEqual(len(texts.coef_names_), 6)
        numbers = SbpsRegressor(groups=1, **SHORT).fit(numpy.column_stack([self.X[:, 0], numpy.arange(300) % 5]), target)
        self.assertEqual(numbers.formula_, "y ~ . + (1 | `x1`)")
        for wrong, words in (({"groups": "nowhere"}, "no column 'nowhere'"), ({"formula": "x ~ shop"}, "the response is the argument y"),
                             ({"formula": "log(y) ~ x"}, "the response is the argument y")):
            with self.assertRaisesRegex(sbps.BadArg, words):
                SbpsRegressor(**wrong).fit(frame, target)

    def test_selection_and_pipelines_print_nothing(self):
        """cross_val_score, GridSearchCV and a pipeline, with what they print and warn of."""
        shown = io.StringIO()
        with warnings.catch_warnings(record=True) as warned, contextlib.redirect_stderr(shown), contextlib.redirect_stdout(shown):
            warnings.simplefilter("always")
            scores = cross_val_score(SbpsRegressor(), self.X, self.y, cv=3)
            search = GridSearchCV(SbpsClassifier(), {"prior": [None, "normal(0,0.01)"]}, cv=3).fit(self.X, self.labels)
            pipe = make_pipeline(StandardScaler(), SbpsRegressor()).fit(self.X, self.y)
        self.assertEqual((shown.getvalue(), [str(one.message) for one in warned if issubclass(one.category, sbps.SbpsWarning)]), ("", []))
        self.assertGreater(scores.min(), 0.9)
        self.assertIsNone(search.best_params_["prior"])
        self.assertGreater(pipe.score(self.X, self.y), 0.9)
        copy = clone(SbpsRegressor(prior="normal(0,1)", chains=2, groups=["a"], options={"epochs": 5}))
        self.assertEqual((copy.prior, copy.chains, copy.groups, copy.options), ("normal(0,1)", 2, ["a"], {"epochs": 5}))


if __name__ == "__main__":
    main(warnings="ignore")  # those of scikit-learn about itself
