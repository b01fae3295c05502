#!/usr/bin/python3
"""Tables of pandas, polars, pyarrow and DuckDB give the draws of the same columns; numbers are passed in place; and arrays
of weights and offsets go with each of them."""
import importlib.util
import unittest

import numpy
from common import Case, example, main, sbps
from sbps import _columns, _tables

OPTIONS = {"family": "bernoulli", "seed": 3, "ess": 50, "progress": False}


def module(name):
    return __import__(name) if importlib.util.find_spec(name) else None


pandas, polars, pyarrow, duckdb = (module(name) for name in ("pandas", "polars", "pyarrow", "duckdb"))
sparse = importlib.import_module("scipy.sparse") if module("scipy") else None


def numbers(rows=400):
    data = example(rows)
    return {name: data[name].astype(float) for name in ("y", "x", "z")}


def kinds():
    """Makers of a table of columns, by name."""
    made = {"dict": dict}
    if pandas:
        made["pandas"] = pandas.DataFrame
    if polars:
        made["polars"] = polars.DataFrame
    if pyarrow:
        made["pyarrow"] = pyarrow.table
    return made


class Tables(Case):
    def setUp(self):
        super().setUp()
        self.columns = numbers()
        self.plain = sbps.fit("y ~ x + z", self.columns, **OPTIONS)

    def test_same_draws(self):
        for name, make in kinds().items():
            with self.subTest(table=name):
                self.assert_same_draws(sbps.fit("y ~ x + z", make(self.columns), **OPTIONS), self.plain)
        if duckdb:
            frame = pandas.DataFrame(self.columns)  # noqa: F841  which DuckDB finds by its name
            self.assert_same_draws(sbps.fit("y ~ x + z", duckdb.sql("select * from frame").to_arrow_table(), **OPTIONS), self.plain)

    def test_numbers_in_place(self):
        for name, make in kinds().items():
            with self.subTest(table=name):
                table = make(self.columns)
                self.assert_same_draws(sbps.fit("y ~ x + z", table, storage="given", **OPTIONS), self.plain)
                made = _tables.take(_tables.borrowed(table))
                again = _tables.take(_tables.borrowed(table))
                self.assertEqual([one.address for one in made.columns], [one.address for one in again.columns])
                self.assertTrue(all(not getattr(one.keep, "flags", None) or not one.keep.flags.owndata or name == "dict"
                                    for one in made.columns))

    @unittest.skipUnless(pyarrow, "pyarrow is not there")
    def test_what_cannot_be_shared_is_refused_in_place(self):
        holes = pyarrow.table({**self.columns, "x": [None, *self.columns["x"][1:].tolist()]})
        with self.assertRaisesRegex(sbps.SbpsError, "table:2|missing|in memory"):
            sbps.fit("y ~ x + z", holes, storage="given", missing="error", **OPTIONS)
        apart = pyarrow.concat_tables([pyarrow.table(self.columns).slice(0, 100), pyarrow.table(self.columns).slice(100)])
        self.assert_same_draws(sbps.fit("y ~ x + z", apart, **OPTIONS), self.plain)

    def test_arrays_of_weights_and_offsets(self):
        weights = 1.0 + numpy.arange(400) % 3
        offset = 0.1 * (numpy.arange(400) % 5)
        by_column = sbps.fit("y ~ x + z", {**self.columns, "w": weights, "o": offset}, weights="w", offset="o", **OPTIONS)
        tables = {**{name: make(self.columns) for name, make in kinds().items()},
                  "matrix": numpy.column_stack(list(self.columns.values()))}
        if sparse:
            tables["sparse"] = sparse.csr_matrix(tables["matrix"])
        for name, table in tables.items():
            with self.subTest(table=name):
                more = {"names": ["y", "x", "z"]} if name in ("matrix", "sparse") else {}
                fit = sbps.fit("y ~ x + z", table, weights=weights, offset=offset, **more, **OPTIONS)
                self.assert_same_draws(fit, by_column)
                self.assertEqual(fit.loo()["elpd_loo"], by_column.loo()["elpd_loo"])
                if more:
                    continue
                drawn = fit.predict(table, "linear", draws=True, offset=offset)
                self.assertEqual(drawn.tobytes(), by_column.predict({**self.columns, "o": offset}, "linear", draws=True).tobytes())
                self.assertEqual(dict(fit.score(table, weights=weights, offset=offset)),
                                 dict(by_column.score({**self.columns, "w": weights, "o": offset})))

    def test_wrong_arrays(self):
        def refused(words, data=self.columns, **more):
            with self.assertRaisesRegex(sbps.BadArg, words):
                sbps.fit("y ~ x", data, **more, **OPTIONS)

        refused("^weights: 3 values for 400 rows", weights=[1, 2, 3])
        refused("^offset: a single int for 400 rows", offset=3)
        refused("^weights: an array goes with a table in memory .*pass the name of a column", data=self.path("t.csv"), weights=[1.0])
        refused("no column is named 'nowhere'", weights="nowhere")
        with self.assertRaisesRegex(sbps.BadArg, "offset: the fit was not made with an array of offset"):
            self.plain.predict(self.columns, offset=numpy.zeros(400))
        with self.assertRaisesRegex(sbps.BadArg, "offset: the fit was made with an array of offset: pass that of these rows, too"):
            sbps.fit("y ~ x", self.columns, offset=numpy.zeros(400), **OPTIONS).predict(self.columns)

    @unittest.skipUnless(pandas, "pandas is not there")
    def test_predictions_keep_the_index(self):
        new = pandas.DataFrame({"x": [0.0, numpy.nan, 1.0], "z": [1.0, 2.0, 3.0]}, index=pandas.Index(["a", "b", "c"], name="key"))
        made = self.plain.predict(new)
        self.assertEqual((list(made.index), made.index.name), (["a", "b", "c"], "key"))
        self.assertTrue(made.loc["b"].isna().all())
        self.assertEqual(list(self.plain.predict({"x": [0.0], "z": [1.0]}).index), [1])
        own = pandas.DataFrame(self.columns, index=[f"row {i}" for i in range(400)])
        fit = sbps.fit("y ~ x + z", own, **OPTIONS)
        self.assertTrue(fit.predict().equals(fit.predict(own)))
        self.assertEqual(dict(fit.score()), dict(fit.score(own)))
        classes = sbps.fit("g ~ x", example(200), family="categorical", seed=1, ess=20, progress=False)
        self.assertEqual(list(classes.predict(new).index), ["a"] * 3 + ["b"] * 3 + ["c"] * 3)
        self.assertEqual(list(classes.predict(new)["class"][:3]), ["north", "south", "west"])

    def test_columns_are_borrowed(self):
        column = _columns.from_values("x", self.columns["x"])
        self.assertEqual(column.address, self.columns["x"].ctypes.data)


if __name__ == "__main__":
    main(warnings="ignore")
