#!/usr/bin/python3
"""Fits in ArviZ itself: summary, loo, compare, plots, of numbers, counts, classes and groups. Runs with ArviZ 0.x
(InferenceData) and with the packages of ArviZ 1.x (DataTree)."""
import os
import sys
import unittest
import warnings

import numpy
from common import Case, example, main, sbps, write_csv

os.environ["MPLBACKEND"] = "agg"
warnings.simplefilter("ignore", FutureWarning)
try:
    try:
        import arviz
    except ImportError:
        import arviz_base
        import arviz_plots
        import arviz_stats
        arviz = None
except ImportError as missing:
    print("skipped:", missing)
    sys.exit(77)

OPTIONS = {"seed": 1, "ess": 200, "progress": False}
SAME_ELPD = 0.03  # ArviZ chooses the tail of the importance weights a little differently


def summary(data, **more):
    return arviz.summary(data, **more) if arviz else arviz_stats.summary(data, **more)


def loo(data):
    return arviz.loo(data, reff=1.0, pointwise=True) if arviz else arviz_stats.loo(data, reff=1.0, pointwise=True)


def elpd(made):
    return getattr(made, "elpd_loo", None) if hasattr(made, "elpd_loo") else made.elpd


class ArviZ(Case):
    @classmethod
    def setUpClass(cls):
        cls.data = example(300)
        cls.data["z"] = cls.data["z"].astype(float)
        cls.fit = sbps.fit("y ~ x + z + g", cls.data, family="bernoulli", **OPTIONS)
        cls.made = cls.fit.to_inferencedata()

    def test_summary_has_every_parameter_and_its_mean(self):
        table = summary(self.made, round_to=6) if arviz else summary(self.made, round_to="none")
        self.assertEqual(list(table.index), self.fit.names)
        means = self.fit.draws.reshape(-1, len(self.fit.names)).mean(axis=0)
        self.assertLess(numpy.abs(table["mean"].to_numpy().astype(float) - means).max(), 1e-5)

    def test_loo_is_that_of_the_fit(self):
        ours, theirs = self.fit.loo(), loo(self.made)
        self.assertAlmostEqual(elpd(theirs), ours["elpd_loo"], delta=SAME_ELPD)
        self.assertAlmostEqual(theirs.se, ours["se_elpd_loo"], delta=SAME_ELPD)

    def test_compare(self):
        other = sbps.fit("y ~ 1", self.data, family="bernoulli", **OPTIONS)
        pair = {"all": self.made, "none": other.to_inferencedata()}
        table = arviz.compare(pair) if arviz else arviz_stats.compare(pair)
        ours = self.fit.compare(other, labels=["all", "none"])
        self.assertEqual(list(table.index), ["all", "none"])
        self.assertEqual(list(ours.index), ["all", "none"])
        difference = table["elpd_diff"].iloc[1] if "elpd_diff" in table else table["elpd"].iloc[1] - table["elpd"].iloc[0]
        self.assertAlmostEqual(abs(difference), abs(ours.loc["none", "elpd_diff"]), delta=0.05)

    def test_groups_and_their_dimensions(self):
        for group in ("posterior", "sample_stats", "log_likelihood", "posterior_predictive", "observed_data"):
            self.assertTrue(len(self.made[group].data_vars) > 0, group)
        chains, draws, _ = self.fit.draws.shape
        self.assertEqual(dict(self.made["log_likelihood"]["y"].sizes), {"chain": chains, "draw": draws, "obs_id": 300})
        self.assertEqual(self.made["observed_data"]["y"].values.tolist(), self.data["y"].tolist())
        self.assertLess(abs(self.made["posterior_predictive"]["y"].values.mean() - self.data["y"].mean()), 0.1)
        self.assertEqual(self.made["posterior"]["x"].values.tobytes(), numpy.ascontiguousarray(self.fit.draws[:, :, 1]).tobytes())

    def test_log_likelihood_is_of_the_same_draws_and_rows(self):
        w = self.fit.draws.reshape(-1, len(self.fit.names))
        data = self.data
        x = numpy.column_stack([numpy.ones(300), data["x"], data["z"], data["g"] == "south", data["g"] == "west"]).astype(float)
        eta = w @ x.T
        expected = numpy.where(data["y"] == 1, -numpy.logaddexp(0, -eta), -numpy.logaddexp(0, eta))
        ours = self.made["log_likelihood"]["y"].values.reshape(expected.shape)
        self.assertLess(numpy.abs(ours - expected).max(), 1e-6)

    def test_lp_is_the_log_posterior_up_to_a_constant(self):
        stats = self.made["sample_stats"]
        whole = self.made["log_likelihood"]["y"].values.sum(axis=2)
        self.assertLess(numpy.abs(stats["log_likelihood"].values - whole).max(), 1e-6)
        rest = stats["lp"].values - stats["log_likelihood"].values - stats["log_prior"].values
        self.assertLess(rest.std(), 1e-6)

    def test_plots(self):
        if arviz:
            arviz.plot_trace(self.made, var_names=["x", "z"])
            arviz.plot_ppc(self.made, num_pp_samples=20)
            arviz.plot_forest(self.made)
            arviz.plot_posterior(self.made, var_names=["x"])
        else:
            arviz_plots.plot_trace(self.made, backend="matplotlib")
            arviz_plots.plot_ppc_dist(self.made, backend="matplotlib")
            arviz_plots.plot_forest(self.made, backend="matplotlib")

    def test_effects_of_groups_are_arrays_by_level(self):
        data = dict(self.data, h=numpy.arange(300) % 6)
        fit = sbps.fit("y ~ x + (1 + x | h) + (1 | g)", data, family="bernoulli", ranef="all", **OPTIONS)
        made = fit.to_inferencedata()
        effects = made["posterior"]["r_h"]
        self.assertEqual(effects.dims, ("chain", "draw", "h", "h__effect"))
        self.assertEqual(effects.coords["h"].values.tolist(), ["0", "1", "2", "3", "4", "5"])
        column = effects.coords["h__effect"].values.tolist()[1]
        self.assertEqual(column, "x")
        index = fit.names.index("r_h[3,x]")
        self.assertEqual(effects.sel(h="3", h__effect="x").values.tolist(), fit.draws[:, :, index].tolist())
        self.assertEqual(made["posterior"]["r_g"].sizes["g"], 3)
        self.assertIn("r_h[3, x]", summary(made).index)
        self.assertAlmostEqual(float(effects.sel(h="3", h__effect="x").mean()), fit.ranef()["h"].loc["3", "x"], places=2)
        self.assertAlmostEqual(elpd(loo(made)), fit.loo()["elpd_loo"], delta=SAME_ELPD)

    def test_counts_classes_and_ordered_classes(self):
        random = numpy.random.default_rng(2)
        data = dict(self.data, n=random.integers(1, 9, 300), three=random.integers(1, 4, 300))
        data["k"] = random.binomial(data["n"], 0.4)
        for formula, family, observed in (("k | trials(n) ~ x", "binomial", data["k"]), ("k ~ x", "poisson", data["k"]),
                                          ("g ~ x", "categorical", [["north", "south", "west"].index(g) for g in data["g"]]),
                                          ("three ~ x", "cumulative", data["three"] - 1)):
            with self.subTest(family=family):
                fit = sbps.fit(formula, data, family=family, **OPTIONS)
                made = fit.to_inferencedata()
                (name,) = made["observed_data"].data_vars
                self.assertEqual(made["observed_data"][name].values.tolist(), list(observed))
                self.assertTrue(set(numpy.unique(made["posterior_predictive"][name].values)) <= set(range(0, 60)))
                self.assertAlmostEqual(elpd(loo(made)), fit.loo()["elpd_loo"], delta=SAME_ELPD)

    def test_rows_that_were_dropped_are_left_out(self):
        pandas = __import__("pandas")
        frame = pandas.DataFrame(dict(self.data), index=[f"row {i}" for i in range(300)])
        frame.loc["row 7", "x"] = numpy.nan
        made = sbps.fit("y ~ x", frame, family="bernoulli", **OPTIONS).to_inferencedata()
        labels = made["observed_data"].coords["obs_id"].values
        self.assertEqual(len(labels), 299)
        self.assertNotIn("row 7", labels)

    def test_a_run_file_has_the_same_groups(self):
        write_csv(self.path("t.csv"), self.data)
        fit = sbps.fit("y ~ x + z + g", self.path("t.csv"), family="bernoulli", **OPTIONS)
        fit.to_netcdf(self.path("r.nc"))
        again = sbps.read(self.path("r.nc")).to_inferencedata()
        self.assertEqual(again["log_likelihood"]["y"].values.tobytes(),
                         fit.to_inferencedata()["log_likelihood"]["y"].values.tobytes())

    def test_what_there_is_no_table_for(self):
        made = sbps.fit(model="gaussian", dim=2, seed=1).to_inferencedata()
        self.assertEqual(len(made["posterior"].data_vars), 2)
        data = dict(self.data, x=self.data["x"].copy())
        fit = sbps.fit("y ~ x", data, family="bernoulli", **OPTIONS)
        data["x"][3] += 1
        with self.assertRaisesRegex(sbps.BadData, "changed since the run"):
            fit.to_inferencedata()
        self.assertTrue(fit.to_inferencedata(log_likelihood=False, posterior_predictive=False)["posterior"].data_vars)


if __name__ == "__main__":
    main(warnings="ignore")
