#!/usr/bin/python3
"""Calls that users of ArviZ, scikit-learn, pandas, polars, pyarrow, DuckDB, patsy and bambi make: each works as stated
or is refused with the stated reason, and docs/conventions.md has the table of them.

    conventions.py              runs the calls whose packages are installed, and compares the table
    conventions.py --update     writes the table
    conventions.py --try        prints what each call does, with the package on PYTHONPATH: for the column `before`"""
import contextlib
import io
import os
import pickle  # noqa: F401  for the calls
import re
import sys
import unittest
import warnings

os.environ["MPLBACKEND"] = "agg"
TRY = "--try" in sys.argv
if TRY:
    import numpy
    import sbps
    ROOT = os.path.realpath(os.path.join(os.path.dirname(__file__), "..", ".."))
else:
    import numpy
    from common import ROOT, sbps
try:
    import pandas
except ImportError as missing:
    print("skipped:", missing)
    sys.exit(77)

BEGIN, END = "<!-- calls of Python: written by tests/python/conventions.py --update -->", "<!-- end of calls of Python -->"
REFUSED = "refused: "
IMPORTS = {"az": "arviz", "sklearn": "sklearn", "polars": "polars", "pyarrow": "pyarrow", "duckdb": "duckdb", "xarray": "xarray"}

# Package, call, what it did at commit ac308b70 (works, or the reason), what it does: works, or a pattern of the message.
CALLS = []


def call(package, code, before, now="works", check=None):
    """check: an expression of `made`, the value of the call, that must be true."""
    CALLS.append((package, code, before, now, check))


ARVIZ = "ArviZ"
call(ARVIZ, "az.summary(fit.to_inferencedata())", 'works', check="set(made.index) >= {'x', 'z', 'sigma'}")
call(ARVIZ, "az.loo(fit.to_inferencedata())", 'refused: log likelihood not found in inference data object', check="abs(made.elpd_loo - fit.loo()['elpd_loo']) < 1")
call(ARVIZ, "az.compare({'a': fit.to_inferencedata(), 'b': other.to_inferencedata()})", 'refused: Encountered error in ELPD computation of compare', check="made.index[0] == 'a'")
call(ARVIZ, "az.plot_trace(fit.to_inferencedata(), var_names=['x'])", 'works')
call(ARVIZ, "az.plot_ppc(fit.to_inferencedata(), num_pp_samples=10)", 'refused: `data` argument must have the group "posterior_predictive" for ppcplot')
call(ARVIZ, "az.plot_forest(fit.to_inferencedata(), var_names=['r_g'])", 'refused: var names: r_g are not present in dataset')
call(ARVIZ, "fit.to_inferencedata().posterior['r_g'].sel(g='b').mean()", "refused: No variable named 'r_g'.", check="abs(float(made)) < 3")
call("xarray", "xarray.open_dataset(run_file, group='posterior', engine='netcdf4').w", 'works', check="'chain' in made.dims")

SKLEARN = "scikit-learn"
call(SKLEARN, "check_estimator(SbpsRegressor())", 'works')
call(SKLEARN, "check_estimator(SbpsClassifier(), expected_failed_checks=XFAIL)", "works, also without `XFAIL`: no `sample_weight`")
call(SKLEARN, "cross_val_score(SbpsRegressor(), X, y, cv=3)", 'works', check="made.min() > 0.5 and not shown")
call(SKLEARN, "cross_val_predict(SbpsClassifier(), X, y > 0, cv=3, method='predict_proba')", 'works', check="made.shape == (200, 2)")
call(SKLEARN, "make_pipeline(StandardScaler(), SbpsRegressor()).fit(X, y)", 'works', check="made.score(X, y) > 0.5")
call(SKLEARN, "GridSearchCV(SbpsRegressor(), {'prior': [None, 'normal(0,0.01)']}, cv=3).fit(X, y)", 'works',
     check="made.best_params_['prior'] is None")
call(SKLEARN, "clone(SbpsRegressor(prior='normal(0,1)')).get_params()['prior']", 'works', check="made == 'normal(0,1)'")
call(SKLEARN, "SbpsRegressor().fit(X, y).coef_", "refused: 'SbpsRegressor' object has no attribute 'coef_'", check="made.shape == (2,)")
call(SKLEARN, "SbpsRegressor().fit(X, y, sample_weight=w)", "refused: SbpsRegressor.fit() got an unexpected keyword argument 'sample_weight'")
call(SKLEARN, "SbpsRegressor().fit(X, y).predict(X, return_std=True)", "refused: SbpsRegressor.predict() got an unexpected keyword argument 'return_std'", check="made[1].min() > 0")
call(SKLEARN, "SbpsRegressor(family='poisson', chains=2).fit(X, counts)", "refused: Estimator.__init__() got an unexpected keyword argument 'family'", check="made.predict(X).min() > 0")
call(SKLEARN, "SbpsRegressor(groups='g').fit(df[['x', 'g']], y).predict(df[['x', 'g']])", "refused: Estimator.__init__() got an unexpected keyword argument 'groups'", check="len(made) == 200")
call(SKLEARN, "SbpsRegressor(formula='~ x + C(g)').fit(df, y).coef_names_", "refused: Estimator.__init__() got an unexpected keyword argument 'formula'", check="len(made) == 3")
call(SKLEARN, "CalibratedClassifierCV(SbpsClassifier(), cv=3).fit(X, y > 0).predict_proba(X)", 'works', check="made.shape == (200, 2)")
call(SKLEARN, "permutation_importance(SbpsRegressor().fit(X, y), X, y, n_repeats=2).importances_mean", 'works', check="made[0] > made[1]")

PANDAS = "pandas"
call(PANDAS, "fit.predict(df.tail(3)).index", 'rows numbered from 1', check="list(made) == list(df.tail(3).index)")
call(PANDAS, "df.join(fit.predict(df))['mean']", 'no row matches: rows numbered from 1', check="made.notna().all()")
call(PANDAS, "sbps.fit('y ~ x + g', df.convert_dtypes(), seed=1)", 'works')
call(PANDAS, "sbps.fit('size ~ x', df, family='cumulative', seed=1)", 'works')
call(PANDAS, "sbps.fit('size ~ x', df.astype({'size': str}), family='cumulative', seed=1)", "refused: table: target 'size': the order of the labels 'large', 'middle', 'small' is not known",
     REFUSED + r"the order of the labels .* is not known")
call("polars", "sbps.fit('y ~ x + g', polars.DataFrame(columns), seed=1)", 'works')
call("polars", "sbps.fit('y ~ x', polars.DataFrame(columns), weights=w, seed=1)", 'refused: can only convert an array of size 1 to a Python scalar')
call("polars", "sbps.fit('y ~ x', polars.DataFrame(columns), storage='given', seed=1)", 'refused: storage="given" is for columns in a program\'s memory, not for files')
call("pyarrow", "sbps.fit('y ~ x + g', pyarrow.table(columns), seed=1)", 'works')
call("DuckDB", "sbps.fit('y ~ x + g', duckdb.sql('select * from frame where x > -1'), seed=1)", 'works')

PATSY = "patsy, bambi"
call(PATSY, "sbps.fit('y ~ x + C(g)', df, seed=1).names", "refused: formula, column 9: no function is called 'C'", check="len(made) == 5")
call(PATSY, "sbps.fit('y ~ C(g, Treatment(\"b\"))', df, seed=1).names", "refused: formula, column 5: no function is called 'C'", check="not any(one.endswith('b') for one in made)")
call(PATSY, "sbps.fit('y ~ C(g, levels=[\"c\", \"b\", \"a\"])', df, seed=1).names", "refused: formula, column 17: '[' is not allowed in a formula", check="not any(one.endswith(')c') for one in made)")
call(PATSY, "sbps.fit('y ~ C(g, Sum)', df, seed=1)", "refused: formula, column 10: no column is named 'Sum'", REFUSED + "sum-to-zero coding is not available")
call(PATSY, "sbps.fit('y ~ np.exp(x) + Q(\"odd name\")', df, seed=1).names", "refused: formula, column 5: no function is called 'np.exp'", check="made[1:3] == ['exp(x)', '`odd name`']")
call(PATSY, "sbps.fit('y ~ (x + z)**2', df, seed=1).names", 'works', check="'x:z' in made")
call(PATSY, "sbps.fit('y ~ center(x)', df, seed=1)", "refused: formula, column 5: no function is called 'center'", REFUSED + r"center\(\) is not available: use scale")
call(PATSY, "sbps.fit('y ~ x + (x | g)', df, seed=1, ess=50, ranef='all').ranef()['g']", "refused: 'Fit' object has no attribute 'ranef'", check="made.shape == (3, 2)")
call("statsmodels", "sbps.fit('y ~ x', df, weights=w, seed=1)", 'refused: can only convert an array of size 1 to a Python scalar')
call("statsmodels", "sbps.fit('counts ~ x', df, family='poisson', offset=numpy.log(w), seed=1).predict(df, offset=numpy.log(w))", 'refused: can only convert an array of size 1 to a Python scalar',
     check="len(made) == 200")
call("statsmodels", "fit.coef, fit.vcov()", "refused: 'Fit' object has no attribute 'coef'", check="made[1].shape == (3, 3)")
call("statsmodels", "fit.params", "refused: 'Fit' object has no attribute 'params'", REFUSED + "use fit.coef")
call("R", "fit.contrast('x - z', 'x > z')", "refused: 'Fit' object has no attribute 'contrast'", check="made.loc['x > z', 'mean'] > 0.9")
call("R", "fit.compare(other)", "refused: 'Fit' object has no attribute 'compare'", check="len(made) == 2")
call("Python", "pickle.loads(pickle.dumps(fit)).predict(df)", 'works', check="len(made) == 200")


class Skip(Exception):
    """A package of the call is not installed."""


class Names(dict):
    """The names of a call: data, fits, and packages as they are used."""

    def __missing__(self, name):
        if name in IMPORTS:
            try:
                self[name] = __import__(IMPORTS[name])
            except ImportError as missing:
                raise Skip(str(missing)) from None
            return self[name]
        places = {"check_estimator": "sklearn.utils.estimator_checks", "cross_val_score": "sklearn.model_selection",
                  "cross_val_predict": "sklearn.model_selection", "make_pipeline": "sklearn.pipeline", "GridSearchCV": "sklearn.model_selection",
                  "StandardScaler": "sklearn.preprocessing", "clone": "sklearn.base", "CalibratedClassifierCV": "sklearn.calibration",
                  "permutation_importance": "sklearn.inspection", "SbpsRegressor": "sbps.sklearn", "SbpsClassifier": "sbps.sklearn",
                  "XFAIL": "sbps.sklearn"}
        if name not in places:
            raise KeyError(name)
        try:
            self[name] = getattr(__import__(places[name], fromlist=[name]), name)
        except ImportError as missing:
            raise Skip(str(missing)) from None
        return self[name]


def names_of_calls():
    """Data of 200 rows, and two fits to them."""
    random = numpy.random.default_rng(1)
    x, z = random.normal(size=(2, 200))
    g = numpy.array(["a", "b", "c"])[numpy.arange(200) % 3]
    y = 1 + 2 * x - z + (numpy.arange(200) % 3 - 1) + 0.5 * random.normal(size=200)
    size = pandas.Categorical.from_codes(numpy.digitize(y, [0.0, 2.0]), ["small", "middle", "large"], ordered=True)
    columns = {"y": y, "x": x, "z": z, "g": g}
    df = pandas.DataFrame({**columns, "odd name": z ** 2, "counts": random.poisson(numpy.exp(0.4 * x)), "size": size},
                          index=[f"row {i}" for i in range(200)])
    quiet = {"seed": 1, "ess": 100, "progress": False, "family": "gaussian"}
    fit = sbps.fit("y ~ x + z + (1 | g)", df, ranef="all", **quiet)
    names = Names(sbps=sbps, numpy=numpy, np=numpy, pandas=pandas, pickle=pickle, df=df, columns=columns, X=numpy.column_stack([x, z]), y=y,
                  w=1 + numpy.arange(200) % 2.0, counts=df["counts"].to_numpy(), fit=fit, other=sbps.fit("y ~ z", df, **quiet),
                  run_file=os.path.abspath("run.nc"), frame=df.reset_index())
    fit.to_netcdf(names["run_file"])
    return names


def need_packages(package, code, names):
    """Skips a call whose packages, or a new enough scikit-learn, are not installed."""
    if package == ARVIZ:
        names["az"]
    if "XFAIL" in code:
        parts = names["sklearn"].__version__.split(".")
        if (int(parts[0]), int(parts[1])) < (1, 6):
            raise Skip("scikit-learn 1.6 is needed")


def outcome_of(code, check, names):
    """works, or "refused: " and the message; and whether the check holds."""
    shown = io.StringIO()
    with warnings.catch_warnings(), contextlib.redirect_stdout(shown), contextlib.redirect_stderr(shown):
        warnings.simplefilter("ignore")
        here = Names(names)
        frame = names["frame"]  # noqa: F841  for DuckDB, which finds it by its name
        try:
            made = eval(code, {"__builtins__": __builtins__, "frame": frame}, here)
        except Skip:
            raise
        except Exception as error:
            return f"{REFUSED}{type(error).__name__}: {error}".splitlines()[0], True
    if check is None:
        return "works", True
    return "works", bool(eval(check, dict(here, made=made, shown=shown.getvalue())))


def table():
    """The rows of docs/conventions.md."""
    lines = ["| call | package | before | now |", "|---|---|---|---|"]
    for package, code, before, now, _ in CALLS:
        plain = re.sub(r"\\(.)", r"\1", now).replace(".*", "...")
        shown = code.replace("|", "\\|")
        lines.append(f"| `{shown}` | {package} | {before} | {plain} |")
    return "\n".join([BEGIN, "", *lines, "", END])


class Calls(unittest.TestCase):
    def test_each_call(self):
        names, tried = names_of_calls(), 0
        for package, code, _, now, check in CALLS:
            with self.subTest(call=code):
                try:
                    need_packages(package, code, names)
                    outcome, holds = outcome_of(code, check, names)
                except Skip as missing:
                    print("skipped:", code, "--", missing)
                    continue
                if now == "works":
                    self.assertEqual(outcome, "works")
                    self.assertTrue(holds, check)
                else:
                    self.assertRegex(outcome, "^refused: .*" + now[len(REFUSED):])
                tried += 1
        self.assertGreater(tried, 15)

    def test_page_has_the_table(self):
        with open(os.path.join(ROOT, "docs", "conventions.md")) as page:
            self.assertIn(table(), page.read())


def update():
    path = os.path.join(ROOT, "docs", "conventions.md")
    with open(path) as page:
        text = page.read()
    begin, end = text.index(BEGIN), text.index(END) + len(END)
    with open(path, "w") as page:
        page.write(text[:begin] + table() + text[end:])


if __name__ == "__main__":
    if "--update" in sys.argv:
        update()
    else:
        import tempfile

        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            if TRY:
                names = names_of_calls()
                for package, code, _, _, check in CALLS:
                    try:
                        print(code, "=>", *outcome_of(code, check, names), sep="\t", flush=True)
                    except Skip as missing:
                        print(code, "=>", "skipped", missing, sep="\t")
                    except Exception as error:
                        print(code, "=>", "check fails:", error, sep="\t")
            else:
                unittest.main(verbosity=1, argv=sys.argv[:1])
