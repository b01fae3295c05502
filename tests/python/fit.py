#!/usr/bin/python3
"""The same model, table and seed give the same draws by the command line and by Python, in whatever form the
table is passed; and reports are those of the command line."""
import json
import re
import sys
import types
import unittest
import unittest.mock
import warnings

import numpy
from common import FLAGS, FORMULA, OPTIONS, Case, example, main, program, sbps, write_csv
from arrow import Producer
from sbps import _progress
from sbps._arviz import groups_of

try:
    import pandas
except ImportError:
    pandas = None
try:
    import xarray
except ImportError:
    xarray = None
try:
    import scipy.sparse
except ImportError:
    scipy = None


class Interchange:
    """A data frame with the interchange protocol only."""

    def __init__(self, frame):
        self.__dataframe__ = frame.__dataframe__


class SameDraws(Case):
    def setUp(self):
        super().setUp()
        self.columns = example()
        self.table = self.path("table.csv")
        write_csv(self.table, self.columns)
        program("sample", self.table, FORMULA, *FLAGS, "-o", self.path("run.nc"))
        self.reference = sbps.read(self.path("run.nc"))

    def fit(self, data, formula=FORMULA, **more):
        return sbps.fit(formula, data, **{**OPTIONS, **more})

    def test_of_a_file(self):
        self.assert_same_draws(self.fit(self.table), self.reference)

    def test_of_columns(self):
        self.assert_same_draws(self.fit(self.columns), self.reference)

    def test_of_lists(self):
        self.assert_same_draws(self.fit({name: values.tolist() for name, values in self.columns.items()}),
                               self.reference)

    def test_of_columns_with_positive_and_negative_strides(self):
        apart = {name: numpy.repeat(values, 3)[::3] for name, values in self.columns.items()}
        self.assert_same_draws(self.fit(apart), self.reference)
        backwards = {name: values[::-1].copy()[::-1] for name, values in self.columns.items()}
        self.assertLess(backwards["x"].strides[0], 0)
        self.assert_same_draws(self.fit(backwards), self.reference)

    def test_of_numbers_of_another_width_or_byte_order(self):
        other = dict(self.columns, y=self.columns["y"].astype(bool), z=self.columns["z"].astype("int8"),
                     x=self.columns["x"].astype(">f8"))
        self.assert_same_draws(self.fit(other), self.reference)

    def test_of_a_matrix(self):
        matrix = numpy.column_stack([self.columns["y"], self.columns["x"], self.columns["z"]]).astype(float)
        program("sample", self.table, "y ~ x + z", *FLAGS, "-o", self.path("matrix.nc"))
        for order in "CF":
            given = self.fit(numpy.asarray(matrix, order=order), "y ~ x + z", names=["y", "x", "z"])
            self.assert_same_draws(given, sbps.read(self.path("matrix.nc")))

    def test_of_an_arrow_stream_in_batches(self):
        producer = Producer(self.columns, 250)
        self.assert_same_draws(self.fit(producer), self.reference)
        self.assertEqual(producer.releases, 1)

    def test_of_borrowed_numbers(self):
        matrix = numpy.column_stack([self.columns["y"], self.columns["x"], self.columns["z"]]).astype(float)
        program("sample", self.table, "y ~ x + z", *FLAGS, "-o", self.path("matrix.nc"))
        for order in "CF":
            given = self.fit(numpy.asarray(matrix, order=order), "y ~ x + z", names=["y", "x", "z"], storage="given")
            self.assertIn("given", given.chosen)
            self.assert_same_draws(given, sbps.read(self.path("matrix.nc")))
        with self.assertRaisesRegex(sbps.BadArg, "storage=\"given\": column 'z' of the design is not a column of doubles"):
            self.fit(dict(self.columns), "y ~ x + z", storage="given")

    @unittest.skipUnless(scipy, "scipy is not there")
    def test_of_a_sparse_matrix(self):
        matrix = numpy.column_stack([self.columns["y"], self.columns["x"], self.columns["z"]]).astype(float)
        matrix[numpy.abs(matrix) < 0.7] = 0
        names = ["y", "x", "z"]
        dense = self.fit(matrix, "y ~ x + z", names=names)
        for kind in (scipy.sparse.csr_matrix, scipy.sparse.csc_matrix, scipy.sparse.coo_matrix, scipy.sparse.csr_array):
            sparse = kind(matrix)
            fit = self.fit(sparse, "y ~ x + z", names=names)
            self.assert_same_draws(fit, dense)
            self.assertEqual(fit.predict(kind(matrix[:50]), draws=True, names=names).tobytes(),
                             dense.predict(matrix[:50], draws=True, names=names).tobytes())
            self.assertEqual(str(fit.loo()), str(dense.loo()))
        twice = scipy.sparse.coo_matrix((numpy.repeat(matrix[:, 1], 2) / 2, (numpy.repeat(numpy.arange(600), 2), [1] * 1200)),
                                        shape=matrix.shape)
        self.assert_same_draws(self.fit(scipy.sparse.csr_matrix(matrix * [1, 0, 1]) + twice, "y ~ x + z", names=names), dense)
        for wrong, words in ((None, "got none"), (["y"], "got 1"), (["y", "x", "x"], "the same name")):
            with self.assertRaisesRegex(sbps.BadArg, words):
                self.fit(scipy.sparse.csr_matrix(matrix), "y ~ x", names=wrong)

    def test_interval_of_predictions(self):
        fit = self.fit(dict(self.columns), "y ~ x")
        wide = fit.predict({"x": [0.1, 0.2]}, interval=0.95)
        self.assertEqual(list(wide.columns if hasattr(wide, "columns") else wide[0])[-3:], ["q2.5", "q50", "q97.5"])
        with self.assertRaisesRegex(sbps.BadArg, "between 0 and 1"):
            fit.predict({"x": [0.1]}, interval=1.5)

    def test_of_dates(self):
        days = numpy.datetime64("2026-11-15") + numpy.arange(600) % 90
        times = numpy.datetime64("2026-11-15T10:20:30") + 3600 * (numpy.arange(600) % 7).astype("m8[s]")
        table = dict(self.columns, day=days, time=times)
        write_csv(self.path("dates.csv"), dict(table, day=days.astype(str), time=times.astype(str)))
        for formula in ("y ~ x + day", "y ~ x + time"):
            self.assert_same_draws(self.fit(table, formula), self.fit(self.path("dates.csv"), formula))
        weeks = dict(table, day=days.astype("M8[W]"))
        self.assertEqual(self.fit(weeks, "y ~ day").names, ["(Intercept)", "day"])
        holes = dict(table, day=days.copy())
        holes["day"][4] = "NaT"
        with self.assertRaisesRegex(sbps.BadData, "table:5: column 'day'"):
            self.fit(holes, "y ~ day", missing="error")
        if pandas:
            frame = pandas.DataFrame(dict(self.columns, time=times))
            self.assert_same_draws(self.fit(frame, "y ~ x + time"), self.fit(table, "y ~ x + time"))

    @unittest.skipUnless(pandas and hasattr(pandas.api, "interchange"), "pandas is not there, or too old")
    def test_of_the_interchange_protocol(self):
        frame = pandas.DataFrame(self.columns)
        self.assert_same_draws(self.fit(Interchange(frame.astype({"g": "category"}))), self.reference)

    def test_of_an_arrow_stream_that_is_read_again(self):
        stream, new = Producer(self.columns, 250), Producer(self.columns, 99)
        fit = self.fit(stream)
        self.assertEqual(fit.predict(new, draws=True).tobytes(), fit.predict(self.columns, draws=True).tobytes())
        self.assertEqual(new.releases, 1)
        self.assertEqual(str(fit.loo()), str(fit.loo(self.columns)))
        self.assertEqual(stream.releases, 3)
        with self.assertRaises(sbps.BadArg):
            fit.predict(new, kind="nothing")
        self.assertEqual(new.releases, 2)

    @unittest.skipUnless(pandas, "pandas is not there")
    def test_of_data_frames(self):
        frame = pandas.DataFrame(self.columns)
        self.assert_same_draws(self.fit(frame), self.reference)
        self.assert_same_draws(self.fit(frame.astype({"g": "category", "z": "Int64", "y": "boolean"})), self.reference)
        self.assert_same_draws(self.fit(frame.astype({"g": "string"})), self.reference)

    @unittest.skipUnless(pandas, "pandas is not there")
    def test_categories_keep_their_order(self):
        frame = pandas.DataFrame(self.columns)
        frame["g"] = pandas.Categorical(frame["g"], categories=["west", "south", "north"])
        self.assertEqual(self.fit(frame).names, ["(Intercept)", "x", "z", "gsouth", "gnorth"])

    def test_missing_cells_are_dropped_as_those_of_a_file(self):
        holes = dict(self.columns, x=self.columns["x"].copy(), g=self.columns["g"].copy())
        holes["x"][5], holes["g"][7] = numpy.nan, None
        write_csv(self.path("holes.csv"), holes)
        by_file = self.fit(self.path("holes.csv"), missing="drop")
        self.assert_same_draws(self.fit(holes, missing="drop"), by_file)
        masked = dict(holes, x=numpy.ma.masked_array(self.columns["x"], numpy.isnan(holes["x"])))
        self.assert_same_draws(self.fit(masked, missing="drop"), by_file)

    def test_of_groups(self):
        program("sample", self.table, "y ~ x + (1 | g)", *FLAGS, "--ess", "30", "--ranef", "all", "-o",
                self.path("groups.nc"))
        self.assert_same_draws(self.fit(self.columns, "y ~ x + (1 | g)", ranef="all", ess=30),
                               sbps.read(self.path("groups.nc")))

    def test_without_a_table(self):
        program("sample", "--model", "gaussian", "--dim", "3", "--seed", "2", "-o", self.path("density.nc"))
        self.assert_same_draws(sbps.fit(model="gaussian", dim=3, seed=2), sbps.read(self.path("density.nc")))


class RowsInMemory(Case):
    """Functions that read row by row: the same cells as columns, as Arrow and as a file, and nothing is written."""

    def rows(self):
        """Rows with cells of every kind, some of them missing, in another order of columns, with one extra column."""
        rows = example(90)
        random = numpy.random.default_rng(2)
        rows["b"] = random.random(90) < 0.5
        rows["t"] = rows["z"] + 4.0
        rows["x"][[3, 40]] = numpy.nan
        rows["g"][[7, 41]] = None
        return {name: rows[name] for name in ("b", "g", "z", "t", "x", "y")} | {"idle": numpy.arange(90)}

    def as_file(self, rows):
        words = dict(rows, x=[repr(float(x)) if x == x else "" for x in rows["x"]],
                     g=["" if g is None else g for g in rows["g"]],
                     b=["true" if b else "false" for b in rows["b"]], t=[f"{t:g}" for t in rows["t"]])
        write_csv(self.path("rows.csv"), {name: numpy.asarray(values, dtype=object) for name, values in words.items()})
        return self.path("rows.csv")

    def fitted(self, formula, **more):
        whole = example()
        whole["b"] = numpy.random.default_rng(3).random(600) < 0.5
        whole["t"] = whole["z"] + 4.0
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # few draws suffice
            return sbps.fit(formula, whole, **{**OPTIONS, "ess": 50, **more})

    def same(self, fit, rows):
        path = self.as_file(rows)
        arrow = Producer({name: values for name, values in rows.items() if name not in ("b", "g")}, 37)
        for name in ("check", "score"):
            by_file = getattr(fit, name)(path)
            self.assertEqual(str(getattr(fit, name)(rows)), str(by_file))
            self.assertEqual(dict(getattr(fit, name)(rows, seed=1)), dict(by_file))
        for kind in ("mean", "linear", "outcome", "density"):
            by_file = fit.predict(path, kind, draws=True, max_draws=20)
            self.assertEqual(fit.predict(rows, kind, draws=True, max_draws=20).tobytes(), by_file.tobytes())
            if not {"b", "g"} & set(fit.words):
                self.assertEqual(fit.predict(arrow, kind, draws=True, max_draws=20).tobytes(), by_file.tobytes())
        self.assertTrue(numpy.isnan(by_file[3]).all())
        self.assertFalse(numpy.isnan(by_file[4]).any())

    def check(self, formula, **more):
        fit = self.fitted(formula, **more)
        fit.words = re.findall(r"\w+", formula)
        self.same(fit, self.rows())
        return fit

    def test_of_numbers(self):
        self.check("y ~ x + z + t")

    def test_of_strings_and_booleans(self):
        fit = self.check("y ~ x*b + g + poly(z, 2)")
        rows = self.rows()
        rows["g"][8] = "east"
        with self.assertRaisesRegex(sbps.BadData, "table: row 9: column 'g': 'east' is none of the levels"):
            fit.predict(rows)
        with self.assertRaisesRegex(sbps.BadData, "table: the run's column 'b' is missing"):
            fit.predict({name: values for name, values in rows.items() if name != "b"})

    def test_of_groups(self):
        self.check("y ~ x + (1 | g) + (1 | t)", ranef="all", ess=20)

    def test_of_counts(self):
        whole = example()
        whole["n"] = 3 + whole["z"].clip(0)
        fit = sbps.fit("y | trials(n) ~ x", whole, family="binomial", seed=1, ess=50)
        rows = {name: values[:50] for name, values in whole.items()}
        write_csv(self.path("counts.csv"), rows)
        self.assertEqual(str(fit.score(rows)), str(fit.score(self.path("counts.csv"))))
        self.assertTrue(fit.loo(whole)["same_table"])
        self.assertEqual(fit.predict(rows, "outcome", draws=True).tobytes(),
                         fit.predict(self.path("counts.csv"), "outcome", draws=True).tobytes())

    def test_numbers_that_were_levels_and_texts_that_were_numbers(self):
        fit = self.fitted("y ~ x + t", categorical="t")
        whole, halves = {"x": [0.5] * 3, "t": [1, 4, 7]}, {"x": ["0.5"] * 3, "t": [1.0, 4.0, 7.0]}
        self.assertEqual(fit.predict(whole, draws=True).tobytes(), fit.predict(halves, draws=True).tobytes())

    def test_no_file_is_written(self):
        fit, rows = self.fitted("y ~ x + g"), self.rows()
        with unittest.mock.patch("tempfile.mkdtemp", side_effect=AssertionError):
            fit.predict(rows)
            for name in ("check", "score"):
                str(getattr(fit, name)(rows))
            str(fit.loo())

    def test_whole_numbers_above_2_to_the_53_stay_distinct(self):
        whole = dict(example(), id=2**53 + numpy.arange(600, dtype="int64") % 3)
        options = {**OPTIONS, "ess": 50}
        levels = [str(2**53 + k) for k in range(3)]
        fit = sbps.fit("y ~ x + id", whole, categorical="id", **options)
        self.assertEqual(fit.names, ["(Intercept)", "x", "id" + levels[1], "id" + levels[2]])
        fit = sbps.fit("y ~ x + (1 | id)", whole, ranef="all", **options)
        self.assertEqual([name for name in fit.names if name.startswith("r_")], [f"r_id[{level},Intercept]" for level in levels])
        self.assertTrue(fit.loo()["same_table"])
        with self.assertRaisesRegex(sbps.BadData, "table:2: column 'id': 9007199254740993 has more digits than a number can hold"):
            sbps.fit("y ~ factor(id)", whole, **options)

    def test_changed_rows_are_detected(self):
        """Rows of another table, and arrays that were changed in place."""
        for formula, more in (("y ~ x + z", {}), ("y ~ x + (1 | g)", {"ranef": "all", "ess": 20}), ("y ~ x", {"storage": "given"})):
            whole = example()
            if "storage" in more:
                whole = {name: whole[name].astype(float) for name in ("y", "x", "z")}
            fit = sbps.fit(formula, whole, **{**OPTIONS, "ess": 50, **more})
            order = numpy.random.default_rng(4).permutation(600)
            self.assertTrue(fit.loo()["same_table"])
            self.assertTrue(fit.loo({name: values[order] for name, values in whole.items()})["same_table"])
            self.assertTrue(fit.check()["same_table"])
            self.assertTrue(fit.score(whole)["same_table"])
            with self.assertRaisesRegex(sbps.BadData, "table: not the table of the fit, or changed since the run"):
                fit.loo({name: values[:90] for name, values in whole.items()})
            whole["x"][7] += 1e-9
            with self.assertRaisesRegex(sbps.BadData, "table: not the table of the fit, or changed since the run"):
                fit.loo()
            self.assertFalse(fit.check()["same_table"])
            self.assertFalse(fit.score(whole)["same_table"])
            self.assertTrue(str(fit.check()).startswith("These rows are not the table of this run"))

    def test_of_many_rows_in_batches(self):
        fit = self.fitted("y ~ x + g")
        many = {name: numpy.tile(values, 1600) for name, values in self.rows().items()}
        drawn = fit.predict(many, "linear", draws=True, max_draws=3)
        self.assertEqual(drawn.tobytes(), numpy.tile(drawn[:90], (1600, 1)).tobytes())
        for threads in (1, 3):
            self.assertEqual(drawn.tobytes(),
                             fit.predict(many, "linear", draws=True, max_draws=3, threads=threads).tobytes())


class Display(types.ModuleType):
    """The part of IPython that the progress line of a notebook needs."""

    def __init__(self, shown):
        super().__init__("IPython")
        self.shown, self.kernel = shown, True

    def get_ipython(self):
        return self

    def display(self, what, **_):
        self.shown.append(("display", what))
        return self

    def update(self, what, **_):
        self.shown.append(("update", what))


class Reports(Case):
    @classmethod
    def setUpClass(cls):
        cls.columns = example()
        cls.fit = sbps.fit(FORMULA, cls.columns, **OPTIONS)

    def setUp(self):
        super().setUp()
        self.run, self.table = self.path("run.nc"), self.path("table.csv")
        self.fit.to_netcdf(self.run)
        write_csv(self.table, self.columns)

    def test_repr_is_the_summary_that_the_command_line_prints(self):
        self.assertEqual(repr(self.fit) + "\n", program("summary", self.run))
        self.assertEqual(repr(sbps.read(self.run)), repr(self.fit))

    def test_summary_has_every_column(self):
        rows = program("summary", self.run, "--csv").splitlines()
        summary = self.fit.summary()
        if pandas:
            self.assertEqual(rows[0].split(","), ["name", *summary.columns])
            self.assertEqual(list(summary.index), self.fit.names)
            self.assertEqual(summary.loc["x", "mean"], float(rows[2].split(",")[1]))

    def test_diagnosis_is_that_of_the_command_line(self):
        self.assertEqual(str(self.fit.diagnose()) + "\n", program("diagnose", self.run))
        self.assertEqual(self.fit.diagnose()["findings"], [])

    def test_scores_and_checks_are_those_of_the_command_line(self):
        for name in ("loo", "check"):
            report = getattr(self.fit, name)()
            self.assertEqual(str(report).rstrip(), program(name, self.run, self.table).rstrip())
            self.assertEqual(dict(report), json.loads(program(name, self.run, self.table, "--json")))
        self.assertEqual(str(self.fit.score(self.columns)).rstrip(), program("score", self.run, self.table).rstrip())

    @unittest.skipUnless(pandas, "pandas is not there")
    def test_contrasts_and_comparisons_are_those_of_the_command_line(self):
        made = self.fit.contrast("x - z", "x > 0")
        lines = program("contrast", self.run, "x - z", "x > 0", "--csv").splitlines()
        self.assertEqual([made.index.name, *made.columns], lines[0].split(","))
        self.assertEqual([repr(float(value)) for value in made.loc["x - z"]], [repr(float(cell)) for cell in lines[1].split(",")[1:]])
        other = sbps.fit("y ~ x", self.columns, **OPTIONS)
        other.to_netcdf(self.path("other.nc"))
        made = self.fit.compare(other, labels=["all", "x"])
        printed = json.loads(program("compare", self.run, self.path("other.nc"), "--data", self.table, "--json"))
        self.assertEqual([row["elpd_diff"] for row in printed], list(made["elpd_diff"]))
        self.assertEqual(list(self.fit.compare(other).index), [FORMULA, "y ~ x"] if made.index[0] == "all" else ["y ~ x", FORMULA])
        for wrong, words in (((), "expected other fits"), ((3,), "expected other fits")):
            with self.assertRaisesRegex(sbps.BadArg, words):
                self.fit.compare(*wrong)
        with self.assertRaisesRegex(sbps.BadArg, "labels: expected a list of 2 names"):
            self.fit.compare(other, labels=["one"])
        with self.assertRaisesRegex(sbps.BadArg, "there is no parameter 'nowhere'"):
            self.fit.contrast("nowhere")
        with self.assertRaisesRegex(AttributeError, "a fit of sbps has no params: use fit.coef"):
            self.fit.params

    @unittest.skipUnless(pandas, "pandas is not there")
    def test_coefficients_and_effects_are_those_of_the_draws(self):
        summary = self.fit.summary()
        numpy.testing.assert_allclose(self.fit.coef.loc[summary.index], summary["mean"], rtol=1e-9)
        flat = self.fit.draws.reshape(-1, len(self.fit.names))
        numpy.testing.assert_allclose(self.fit.vcov().to_numpy(), numpy.cov(flat, rowvar=False))
        table = dict(self.columns, h=numpy.arange(600) % 4)
        mixed = sbps.fit("y ~ x + (1 + x | h) + (1 | g)", table, **dict(OPTIONS, ess=50, ranef="all", progress=False))
        self.assertEqual(list(mixed.coef.index), mixed.names[:2])
        effects = mixed.ranef()
        self.assertEqual({name: one.shape for name, one in effects.items()}, {"h": (4, 2), "g": (3, 1)})
        drawn = mixed.draws[:, :, mixed.names.index("r_h[2,x]")]
        self.assertAlmostEqual(effects["h"].loc["2", "x"], drawn.mean(), delta=0.02)
        self.assertAlmostEqual(mixed.ranef("sd")["h"].loc["2", "x"], drawn.std(), delta=0.05)
        for one, words in ((self.fit, "the model has no group effects"),
                           (sbps.fit("y ~ x + (1 | g)", table, **dict(OPTIONS, ess=30, ranef="none", progress=False)), "stores no group effects")):
            with self.assertRaisesRegex(sbps.BadArg, words):
                one.ranef()
        with self.assertRaisesRegex(sbps.BadArg, "'median' is not a column of the summary"):
            mixed.ranef("median")

    def test_a_run_that_was_read_knows_its_file(self):
        program("sample", self.table, FORMULA, *FLAGS, "-o", self.path("other.nc"))
        self.assertIn("elpd_loo", str(sbps.read(self.path("other.nc")).loo()))

    def test_predictions_are_those_of_the_command_line(self):
        for kind in ("mean", "linear", "outcome"):
            lines = program("predict", self.run, self.table, "--kind", kind).splitlines()
            given = self.fit.predict(self.columns, kind)
            if pandas:
                self.assertEqual(len(given), 600)
                self.assertEqual([1.0, *given.iloc[0]], [float(cell) for cell in lines[1].split(",")])

    def test_draws_of_predictions(self):
        drawn = self.fit.predict(self.columns, "linear", draws=True, max_draws=0)
        self.assertEqual(drawn.shape, (600, self.fit.draws.shape[0] * self.fit.draws.shape[1]))

    def test_draws_of_predictions_of_classes(self):
        fit = sbps.fit("g ~ x", self.columns, family="categorical", seed=1, ess=100)
        self.assertEqual(fit.predict({"x": [0.0, 1.0]}, draws=True, max_draws=50).shape, (2, 3, 50))

    def test_page(self):
        self.fit.report(self.path("page.html"))
        self.fit.report(self.path("rows.html"), self.columns)
        with open(self.path("page.html")) as page, open(self.path("rows.html")) as rows:
            self.assertLess(len(page.read()), len(rows.read()))

    def test_notebook_shows_a_table(self):
        self.assertRegex(self.fit._repr_html_(), r"<table>.*<td>x</td>")

    def test_notebook_shows_progress_in_one_place(self):
        shown = []
        display = Display(shown)
        sys.modules["IPython"], sys.modules["IPython.display"] = display, display
        self.addCleanup(sys.modules.pop, "IPython")
        self.addCleanup(sys.modules.pop, "IPython.display")
        self.assertIsInstance(_progress.bar(None), _progress.NotebookBar)
        self.assertNotIsInstance(_progress.bar(False), _progress.NotebookBar)
        one = _progress.bar(None)
        state = _progress.Progress(share_done=0.5, min_ess=12, max_rhat=1.01, seconds_left=float("nan"))
        one.show(state)
        one.show(state)
        one.close()
        self.assertEqual([what for what, _ in shown], ["display", "update", "update"])
        self.assertIn("50%  ESS 12", shown[0][1]["text/plain"])
        self.assertEqual(shown[-1][1]["text/plain"], "")

    @unittest.skipUnless(xarray, "xarray is not there")
    def test_groups_for_arviz(self):
        """Of the fit as datasets; python/arviz_fits has ArviZ itself."""
        made = groups_of(self.fit, None, None)
        self.assertEqual(list(made), ["posterior", "sample_stats", "log_likelihood", "posterior_predictive", "observed_data"])
        self.assertEqual(list(made["posterior"].data_vars), self.fit.names)
        self.assertEqual(made["posterior"]["x"].values.tobytes(), self.fit.draws[:, :, 1].tobytes())
        self.assertEqual(made["observed_data"]["y"].values.tolist(), self.columns["y"].tolist())
        self.assertEqual(made["log_likelihood"]["y"].dims, ("chain", "draw", "obs_id"))
        x = numpy.linspace(-1, 1, 60)
        named = sbps.fit("y ~ sigma", {"y": 2 * x + numpy.sin(50 * x), "sigma": x}, family="gaussian", ess=20)
        made = groups_of(named, False, False)["posterior"]
        self.assertEqual(list(made.data_vars), [named.names[0], "sigma", "sigma.1"])
        self.assertEqual(made["sigma.1"].values.tobytes(), named.draws[:, :, 2].tobytes())

    def test_observed_responses(self):
        """As the model reads them, from labels, trials, functions and classes."""
        data = dict(example(60), n=3 + numpy.arange(60) % 4)
        data["k"] = numpy.arange(60) % 3
        for formula, family, expected in (("y ~ x", "bernoulli", data["y"]), ("k | trials(n) ~ x", "binomial", data["k"]),
                                          ("exp(x) ~ z", "gaussian", numpy.exp(data["x"])),
                                          ("g ~ x", "categorical", numpy.array([data["g"] == one for one in ("north", "south", "west")]).T)):
            fit = sbps.fit(formula, data, family=family, seed=1, ess=20, progress=False)
            seen = fit.predict(data, "response", draws=True, max_draws=2)
            numpy.testing.assert_allclose(seen, numpy.stack([expected, expected], -1).astype(float), rtol=1e-9)

    def test_run_file_keeps_the_call(self):
        page = self.path("page.html")
        program("report", self.run, "-o", page)
        with open(page) as file:
            self.assertIn("sbps.fit(formula=", re.sub("&#39;|&quot;", "'", file.read()))

    @unittest.skipUnless(xarray, "xarray is not there")
    def test_xarray_has_the_draws(self):
        made = self.fit.to_xarray()
        self.assertEqual(made["w"].dims, ("chain", "draw", "coef"))
        self.assertEqual(made["w"].values.tobytes(), self.fit.draws.tobytes())
        try:
            stored = xarray.open_dataset(self.run, group="posterior", engine="netcdf4")
        except (ImportError, ValueError):
            self.skipTest("netCDF4 is not there")
        self.assertTrue((stored["w"] == made["w"]).all())


if __name__ == "__main__":
    main()
