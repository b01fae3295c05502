#!/usr/bin/python3
"""Models written as a function of some rows: the posterior is that of the listed model, an exception in the function is the
exception of the fit, and invalid models are refused with a message."""
import threading

import numpy
from common import Case, main, sbps

QUICK = {"seed": 3, "ess": 30, "sampler": "hmc", "chains": 2, "warmup": 50}


def table(rows=150):
    random = numpy.random.default_rng(5)
    x = random.normal(size=rows)
    return {"x": x, "y": (random.random(rows) < 1 / (1 + numpy.exp(-x))).astype(float),
            "z": 1 + 0.5 * x + 0.3 * random.normal(size=rows)}


def logistic(w, x, y):
    eta = x @ w
    return y * eta - numpy.logaddexp(0, eta), (y - 1 / (1 + numpy.exp(-eta)))[:, None] * x


def normal(w, x, y):
    """The last parameter is the log of the residual sd."""
    r = (y - x @ w[:-1]) * numpy.exp(-w[-1])
    return -0.5 * r**2 - w[-1], numpy.column_stack([(r * numpy.exp(-w[-1]))[:, None] * x, r**2 - 1])


class Failing:
    """Fails at one call and counts them all."""

    def __init__(self, at, failure):
        self.at, self.failure, self.calls = at, failure, 0

    def __call__(self, w, x, y):
        self.calls += 1
        if self.calls == self.at:
            raise self.failure
        return logistic(w, x, y)


class Posterior(Case):
    def assert_same_posterior(self, own, listed, most=5):
        for name in own.names:
            a, b = (dict(zip(fit.names, fit._rows()))[name] for fit in (own, listed))
            self.assertLess(abs(a["mean"] - b["mean"]), most * numpy.hypot(a["mcse"], b["mcse"]), name)
            self.assertTrue(0.8 < a["sd"] / b["sd"] < 1.25, name)

    def test_is_that_of_the_listed_model(self):
        priors = {"prior": "normal(0,2.5)"}
        listed = sbps.fit("y ~ x", table(), family="bernoulli", prior_intercept="normal(0,2.5)",
                          prior_intercept_at="zero", **priors, **QUICK)
        for how in ({}, {"sampler": None, "batch_size": 50}):
            own = sbps.fit("y ~ x", table(), model=logistic, **priors, **{**QUICK, **how})
            self.assertEqual(own.names, ["(Intercept)", "x"])
            self.assert_same_posterior(own, listed)
        self.assertIn("function logistic", repr(own))

    def test_with_parameters_that_are_not_weights(self):
        model = sbps.Model(normal, ["a", "b", "log_sigma"], start=[0, 0, -0.5], prior_sd=[10, 10, 5])
        own = sbps.fit("z ~ x", table(), model=model, **QUICK)
        listed = sbps.fit("z ~ x", table(), family="gaussian", prior="normal(0,10)", prior_intercept="normal(0,10)",
                          **QUICK)
        self.assertEqual(own.names, ["a", "b", "log_sigma"])
        means = [row["mean"] for row in own._rows()], [row["mean"] for row in listed._rows()]
        for mine, theirs in zip(means[0], [*means[1][:2], numpy.log(means[1][2])]):
            self.assertAlmostEqual(mine, theirs, delta=0.02)

    def test_rows_may_be_kept(self):
        kept = []

        def keeping(w, x, y):
            kept.append((w, x, y))
            return logistic(w, x, y)

        sbps.fit("y ~ x", table(), model=keeping, **QUICK)
        self.assertTrue(all(numpy.all(x[:, 0] == 1) for _, x, _ in kept))
        with self.assertRaises(ValueError):
            kept[0][1][0, 0] = 2

    def test_two_at_once(self):
        alone, together = sbps.fit("y ~ x", table(), model=logistic, **QUICK), [None, None]

        def work(i):
            together[i] = sbps.fit("y ~ x", table(), model=logistic, **QUICK)

        threads = [threading.Thread(target=work, args=(i,)) for i in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for one in together:
            self.assert_same_draws(one, alone)


class Failures(Case):
    def test_an_exception_is_that_of_the_fit(self):
        whole = Failing(0, None)
        sbps.fit("y ~ x", table(), model=whole, **QUICK)
        for at in (1, 5, 30, whole.calls // 2, whole.calls):
            failing = Failing(at, KeyError("nowhere"))
            with self.assertRaisesRegex(KeyError, "nowhere") as caught:
                sbps.fit("y ~ x", table(), model=failing, **QUICK)
            self.assertIs(caught.exception, failing.failure)
            self.assertEqual(failing.calls, at)

    def test_exceptions_that_are_not_errors(self):
        for kind in (SystemExit, KeyboardInterrupt, GeneratorExit):
            with self.assertRaises(kind):
                sbps.fit("y ~ x", table(), model=Failing(10, kind()), **QUICK)

    def refused(self, model, words, kind=sbps.BadArg, **more):
        with self.assertRaisesRegex(kind, words):
            sbps.fit("y ~ x", table(), model=model, **{**QUICK, **more})

    def test_invalid_return_values(self):
        self.refused(lambda w, x, y: None, "returns NoneType, expected two arrays")
        self.refused(lambda w, x, y: logistic(w, x, y)[0], "returns ndarray, expected two arrays")
        self.refused(lambda w, x, y: (0.0, logistic(w, x, y)[1]), r"log densities of shape \(1,\) for 7 rows, expected \(7,\)")
        self.refused(lambda w, x, y: (logistic(w, x, y)[0], logistic(w, x, y)[1].T),
                     r"gradients of shape \(2, 7\) for 7 rows, expected \(7, 2\)")
        self.refused(lambda w, x, y: ("a", "b"), "could not convert string to float", ValueError)

    def test_contradictory_arguments(self):
        self.refused(lambda w, x, y: (logistic(w, x, y)[0], -logistic(w, x, y)[1]),
                     "gradient is not the derivative of its loglik: for parameter 0, '\(Intercept\)'", sbps.BadFile)
        self.refused(lambda w, x, y: (logistic(w, x, y)[0] - y.sum(), logistic(w, x, y)[1]),
                     "depends on the other rows of the call", sbps.BadData)
        self.refused(lambda w, x, y: (numpy.full(len(y), numpy.nan), logistic(w, x, y)[1]), "its loglik is -?nan",
                     sbps.BadData)

    def test_invalid_models(self):
        self.refused(3, "no '3'")
        self.refused(logistic, "family", family="bernoulli")
        for wrong, words in (((3,), "a function of w, x and y"), ((logistic, "ab"), "a list of names")):
            with self.assertRaisesRegex(sbps.BadArg, words):
                sbps.Model(*wrong)
        for wrong in ({"start": [1.0]}, {"prior_sd": 1}):
            with self.assertRaisesRegex(sbps.BadArg, "needs the argument parameters"):
                sbps.Model(logistic, **wrong)
        with self.assertRaisesRegex(sbps.BadArg, "1 numbers for 2 parameters"):
            sbps.Model(logistic, ["a", "b"], start=[1.0])

    def test_rows_to_come(self):
        fit = sbps.fit("y ~ x", table(), model=logistic, **QUICK)
        with self.assertRaisesRegex(sbps.BadData, "cannot be predicted with model 'function logistic'"):
            fit.predict({"x": [1.0]})


if __name__ == "__main__":
    main()
