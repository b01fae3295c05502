#!/usr/bin/python3
"""Misuse and concurrency: wrong types and lengths, unknown options, threads, forks, Ctrl-C. Each call returns draws or
raises the exception of its status with a message; none crashes."""
import contextlib
import ctypes
import io
import multiprocessing
import os
import pickle
import signal
import subprocess
import re
import sys
import threading
import unittest.mock
import warnings

import numpy
from common import FORMULA, OPTIONS, PACKAGE, ROOT, Case, example, main, program, sbps, write_csv
from arrow import Producer
from sbps import _library as lib
from sbps._progress import bar
from sbps._sampling import Sampling, Stopped
from sbps._tables import take

# Background jobs of a shell inherit an ignored SIGINT; children of this process must not.
signal.signal(signal.SIGINT, signal.default_int_handler)

ENDLESS = """
import sys, sbps
sys.path.insert(0, sys.argv[1])
from common import FORMULA, OPTIONS, example
fit = sbps.fit(FORMULA, example(), progress=True, **dict(OPTIONS, ess=None, epochs=1e15))
print(fit.interrupted, fit.draws.shape[1] > 0, len(fit.summary()) == 5)
"""

BARE = """
import sys
for name in ("numpy", "pandas", "xarray", "netCDF4"):
    sys.modules[name] = None
import sbps
fit = sbps.fit("y ~ x + g", {"y": [1.0, 2.5, 2.9, 4.2, 5.1, 5.8], "x": [1, 2, 3, 4, 5, 6], "g": list("ababab")},
               family="gaussian", seed=1)
assert fit.names == ["(Intercept)", "x", "gb", "sigma"], fit.names
assert len(fit.draws) == 4 and len(fit.draws[0][0]) == 4
assert fit.summary()[1]["name"] == "x" and 0.5 < fit.summary()[1]["mean"] < 1.5
assert len(fit.predict({"x": [7], "g": ["a"]}, draws=True)[0]) == 1000
assert fit.predict({"x": [7], "g": ["a"]})[0]["row"] == 1
assert not [name for name in ("numpy", "pandas", "xarray") if sys.modules.get(name)]
"""


def texts_of_sources():
    """String constants of the library that name options or commands; parts that stand side by side are joined."""
    for folder, _, names in os.walk(os.path.join(ROOT, "src")):
        for name in names:
            if name == "option_table.c" or os.path.basename(folder) == "page" or not name.endswith((".c", ".h")):
                continue
            with open(os.path.join(folder, name)) as file:
                code = re.sub(r"/\*.*?\*/", "", file.read(), flags=re.S)
            for found in re.findall(r'(?:"(?:[^"\\\n]|\\.)*"(?:\s|PRI\w+)*)+', code):
                text = "".join(re.findall(r'"((?:[^"\\\n]|\\.)*)"', found)).replace('\\"', '"').replace("\\n", "\n")
                if "--" in text or re.search(r"[`']sbps [a-z]|command line", text):
                    yield text


def fit_and_send(connection):
    connection.send(sbps.fit(FORMULA, example(), **OPTIONS).draws.tobytes())


class Messages(Case):
    def refused(self, data, words, formula="y ~ x", kind=sbps.BadArg, **options):
        with self.assertRaisesRegex(kind, words):
            sbps.fit(formula, data, **{"family": "gaussian", **options})

    def test_wrong_tables(self):
        self.refused(3, "int is not a table")
        self.refused({}, "no columns")
        self.refused({"y": [1, 2], "x": [1, 2, 3]}, "column 'x' has 3 rows, column 'y' 2")
        self.refused({"y": [1, 2], "x": "ab"}, "column 'x' is a single str")
        self.refused({"y": [1, 2], "x": 1}, "column 'x' is a single int")
        self.refused({"y": [1, 2], "x": [1, "a"]}, "begins with 1 and has 'a' in row 2")
        self.refused({"y": [1, 2], "x": [1j, 2j]}, "column 'x' is of type complex")
        self.refused({"y": [1, 2], "x": ["a", "\ud800"]}, "cannot be encoded in UTF-8")
        self.refused({"y": [1, 2], "x": ["a", "b\0c"]}, "a zero character")

    def test_wrong_arrays(self):
        two = numpy.ones((2, 2))
        self.refused(two, "2 columns: expected as many names, got none")
        self.refused(two, "got 3", names=["y", "x", "z"])
        self.refused(two, "the same name", names=["y", "y"])
        self.refused(numpy.ones(3), "two dimensions", names=["y"])
        self.refused({"y": numpy.ones(2), "x": two}, "column 'x' has 2 dimensions")
        for kind in ("complex128", "m8[s]", "S3", "V8"):
            self.refused({"y": numpy.ones(2), "x": numpy.zeros(2, kind)}, "column 'x' is of type")

    def test_one_file_twice(self):
        path, link = self.path("table.csv"), self.path("link.csv")
        write_csv(path, example())
        os.symlink(path, link)
        for other in (path, link, os.path.relpath(path)):
            with self.assertRaisesRegex(sbps.BadArg, "table.csv and .* are the same file, whose rows would count twice"):
                sbps.fit(FORMULA, [path, other], **OPTIONS)

    def test_messages_are_those_of_the_command_line(self):
        path = self.path("table.csv")
        write_csv(path, example())
        for formula, flags, options in (
                ("y ~ nowhere", [], {}),
                ("y ~ x +", [], {}),
                ("y ~ x", ["--prior", "norml(0,1)"], {"prior": "norml(0,1)"}),
                ("y ~ x", ["--chains", "0"], {"chains": 0}),
                ("g ~ x", [], {})):
            with self.subTest(formula=formula, **options):
                with self.assertRaises(sbps.SbpsError) as caught:
                    sbps.fit(formula, path, family="gaussian", **options)
                printed = program("sample", path, formula, "--family", "gaussian", *flags, "-o", self.path("run.nc"),
                                  fails=True)
                self.assertIn(str(caught.exception), sbps._library.in_python(printed))

    def test_messages_have_names_of_python(self):
        spelled = sbps._library.in_python
        self.assertEqual(spelled("drop such rows with --missing drop, or the column with --exclude"),
                         'drop such rows with missing="drop", or the column with `exclude`')
        self.assertEqual(spelled("--prior-sd: bad; --standardize helps; --nowhere stays"),
                         "prior_sd: bad; standardize=True helps; --nowhere stays")
        self.refused({"y": [1.0, float("nan"), 2.0], "x": [1, 2, 3]}, 'with missing="drop"', kind=sbps.BadData, missing="error")

    def test_no_message_of_the_library_keeps_an_option_of_the_command_line(self):
        """Every text in the sources that names an option or a command, but for commands that Python does not have."""
        kept = re.compile(r"[`']sbps (map|laplace|convert|simulate)[^`']*[`']|--(truth|%s)|content of --$")
        seen = 0
        for text in texts_of_sources():
            spelled = sbps._library.in_python(text)
            left = kept.sub("", spelled)
            self.assertNotRegex(left, r"--[a-z%]|[`']sbps [a-z]|command line", text)
            seen += spelled != text
        self.assertGreater(seen, 150)

    def test_reports_have_names_of_python(self):
        fit = sbps.fit(FORMULA, example(), **dict(OPTIONS, sampler="sbps", batch_size=20, band=0.1, warmup=0, epochs=20,
                                                  ess=None, progress=False))
        found = fit.diagnose()["findings"]
        self.assertTrue(any("`band`" in one["remedy"] or "`batch_size`" in one["remedy"] for one in found), found)
        for text in (str(fit.diagnose()), *[one["remedy"] for one in found], fit.chosen, str(fit.check()), repr(fit)):
            self.assertNotRegex(text, r"--[a-z]|`sbps ")

    def test_a_family_is_chosen_by_the_target(self):
        table = {"x": [i % 7 for i in range(60)], "y": [(i * 7919) % 100 < 50 for i in range(60)],
                 "z": [0.3 * i % 5 for i in range(60)], "three": list("abc") * 20}
        self.assertEqual(sbps.fit("y ~ x", table, ess=50, seed=1).names, ["(Intercept)", "x"])
        self.assertEqual(sbps.fit("z ~ x", table, ess=50, seed=1).names, ["(Intercept)", "x", "sigma"])
        self.refused({"x": table["x"], "y": table["three"]}, 'choose family="categorical"', kind=sbps.BadArg, family=None)

    def test_a_family_is_printed_only_where_it_was_chosen(self):
        table = {"x": [i % 7 for i in range(60)], "y": [i % 3 % 2 for i in range(60)]}
        for family, printed in ((None, True), ("bernoulli", False)):
            shown = io.StringIO()
            with contextlib.redirect_stderr(shown):
                sbps.fit("y ~ x", table, family=family, ess=50, seed=1)
            self.assertEqual("family bernoulli, because" in shown.getvalue(), printed)
            self.assertEqual(shown.getvalue().count("\n"), int(printed))

    def test_statuses_are_classes(self):
        self.refused(self.path("nothing.csv"), "nothing.csv", kind=sbps.NoFile)
        self.refused({"y": [1.0, float("nan")], "x": [1, 2]}, "table:2", kind=sbps.SbpsError, missing="error")
        self.refused({"y": [0.5, 2], "x": [1, 2]}, "y", kind=sbps.BadData, family="bernoulli")
        self.assertTrue(issubclass(sbps.NoFile, OSError) and issubclass(sbps.BadArg, ValueError))

    def test_invalid_numbers(self):
        for wrong, words in ((float("nan"), "table:2: column 'x'"), (float("inf"), "table:2: column 'x': 'inf' is not a")):
            for storage in ("double", "given"):
                table = {"y": numpy.array([1.0, 2.0, 4.0]), "x": numpy.array([1.0, wrong, 2.0])}
                self.refused(table, words, kind=sbps.BadData, storage=storage, missing="error")
        self.refused({"y": numpy.array([1.0]), "x": numpy.array([1.0])}, "row", kind=sbps.SbpsError)
        self.refused({"y": numpy.empty(0), "x": numpy.empty(0)}, "row", kind=sbps.SbpsError)
        self.refused({"y": [2.0, 2.0, 2.0, 2.0], "x": [1.0, 2.0, 3.0, 4.0]}, "y", kind=sbps.SbpsError)

    def test_exceptions_of_arguments(self):
        def failing():
            yield 1.0
            raise RuntimeError("no more")

        with self.assertRaisesRegex(RuntimeError, "no more"):
            sbps.fit("y ~ x", {"y": [1.0, 2.0], "x": failing()}, family="gaussian")

        class Frame:
            def __arrow_c_stream__(self, requested_schema=None):
                raise LookupError("closed")

        with self.assertRaisesRegex(LookupError, "closed"):
            sbps.fit("y ~ x", Frame(), family="gaussian")

    def test_no_standard_error(self):
        before = sys.stderr
        try:
            sys.stderr = None
            fit = sbps.fit(FORMULA, example(), progress=True, **OPTIONS)
        finally:
            sys.stderr = before
        self.assertFalse(fit.interrupted)

    def test_options(self):
        table = {"y": [1, 2, 3], "x": [1, 2, 4]}
        self.refused(table, "chians", chians=2)
        self.refused(table, "output is not an option of fit", output="run.nc")
        self.refused(table, "formula and family are strings", formula=3)
        fit = sbps.fit("y ~ x", table, family="gaussian")
        for wrong in ({"seed": -1}, {"max_draws": 0.5}, {"threads": "all"}):
            with self.assertRaisesRegex(sbps.BadArg, "is out of range: expected a whole number N >= 0"):
                fit.predict({"x": [1]}, **wrong)

    def test_missing_rows(self):
        fit = sbps.fit(FORMULA, Producer(example(), 200, once=True), **OPTIONS)
        with self.assertRaisesRegex(sbps.BadData, "the stream has no rows"):
            fit.loo()
        with self.assertRaisesRegex(sbps.SbpsError, "g"):
            fit.predict({"x": [1.0], "z": [1]})

    def test_warnings_of_the_command_line_are_warnings(self):
        short = {"sampler": "sbps", "batch_size": 20, "band": 0.1, "warmup": 0, "epochs": 20, "ess": None}
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            sbps.fit(FORMULA, example(), **{**OPTIONS, **short})
        self.assertEqual(len(seen), 1, [str(one.message) for one in seen])
        self.assertRegex(str(seen[0].message), "the chains have not converged: R-hat [^;]*; the stated bias of [^;]* above the "
                                               "budget of 0.02; call diagnose")
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            sbps.fit(FORMULA, example(), **OPTIONS)
            sbps.fit(FORMULA, example(), prior_only=True, seed=1)
            groups = sbps.fit("y ~ x + (1 | g)", example(), **dict(OPTIONS, ess=100))
        left_out = groups.loo(group="g", max_draws=100)
        self.assertEqual(left_out["group"], "g")
        self.assertEqual(len(left_out["by_group"]), left_out["groups"])
        with self.assertRaisesRegex(sbps.BadArg, "group: 3 is not the name"):
            groups.loo(group=3)

    def test_names_with_commas(self):
        table = {"y": [1.0, 2.5, 2.9, 4.2], "a,b": [1, 2, 3, 4], "c": [1, 3, 2, 2], "d": [1, 1, 2, 5]}
        fit = sbps.fit(None, table, family="gaussian", target="y", features=["a,b", "c"], seed=1)
        self.assertEqual(fit.names, ["intercept", "a,b", "c", "sigma"])

    def test_levels_without_effects_are_reported(self):
        fit = sbps.fit("y ~ x + (1 | g)", example(), ranef="none", **dict(OPTIONS, ess=30))
        with self.assertWarnsRegex(sbps.SbpsWarning, "stores no group effects"):
            fit.predict({"x": [1.0], "g": ["north"]}, new_levels="prior")


class Copies(Case):
    def test_a_pickle_has_the_draws_and_predicts(self):
        fit = sbps.fit(FORMULA, example(), **OPTIONS)
        copy = pickle.loads(pickle.dumps(fit))
        self.assert_same_draws(copy, fit)
        self.assertEqual((repr(copy), copy.chosen, copy.notes), (repr(fit), fit.chosen, fit.notes))
        new = {"x": [1.0], "z": [2], "g": ["south"]}
        self.assertEqual(copy.predict(new, draws=True).tobytes(), fit.predict(new, draws=True).tobytes())
        with self.assertRaisesRegex(sbps.BadArg, "the fit has no table of its own"):
            copy.loo()


class Threads(Case):
    def test_concurrent_runs_have_the_draws_of_single_runs(self):
        alone, together = sbps.fit(FORMULA, example(), **OPTIONS), [None] * 4

        def work(i):
            together[i] = sbps.fit(FORMULA, example(), **OPTIONS)

        threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for one in together:
            self.assert_same_draws(one, alone)

    def test_one_fit_from_many_threads(self):
        fit, new, results = sbps.fit(FORMULA, example(), **OPTIONS), {"x": [1.0], "z": [2], "g": ["south"]}, []
        threads = [threading.Thread(target=lambda: results.append(fit.predict(new, draws=True).tobytes() + repr(fit).encode()))
                   for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual((len(results), len(set(results))), (6, 1))

    def test_files_are_read_and_written_on_many_threads(self):
        path, right = self.path("run.nc"), []
        fit = sbps.fit(FORMULA, example(), **OPTIONS)
        fit.to_netcdf(path)

        def work(i):
            for _ in range(5):
                back = sbps.read(path)
                back.to_netcdf(f"{path}.{i}.nc")
                again = sbps.read(f"{path}.{i}.nc")
                right.extend(numpy.array_equal(one.draws, fit.draws) for one in (back, again))

        threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(right, [True] * 40)  # an exception in a thread leaves the list short

    def test_a_fork_uses_the_fit_of_its_parent(self):
        fit = sbps.fit(FORMULA, example(), **OPTIONS)
        context = multiprocessing.get_context("fork")
        ours, theirs = context.Pipe()
        child = context.Process(target=lambda: theirs.send((repr(fit), str(fit.loo()))))
        child.start()
        theirs.close()
        self.assertEqual(ours.recv(), (repr(fit), str(fit.loo())))
        child.join()

    def test_a_fork_can_fit(self):
        alone = sbps.fit(FORMULA, example(), **OPTIONS)
        context = multiprocessing.get_context("fork")
        ours, theirs = context.Pipe()
        child = context.Process(target=fit_and_send, args=(theirs,))
        child.start()
        theirs.close()
        self.assertEqual(ours.recv(), alone.draws.tobytes())
        child.join()


class Interrupts(Case):
    def test_draws_are_kept(self):
        child = subprocess.Popen([sys.executable, "-c", ENDLESS, os.path.dirname(os.path.abspath(__file__))],
                                 env=dict(os.environ, PYTHONPATH=PACKAGE), text=True, stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE)
        seen = ""
        while "ESS" not in seen and child.poll() is None:  # ESS is printed once there are draws
            seen += child.stderr.read(1)
        child.send_signal(signal.SIGINT)
        output, more = child.communicate()
        self.assertEqual(output, "True True True\n", seen + more)
        self.assertIn("interrupted: keeping the draws so far", more)

    def test_before_there_are_draws_nothing_is_kept(self):
        main_thread = threading.main_thread().ident
        signals = [signal.SIGINT]  # once: the reading thread requests batches until it notices the interrupt
        producer = Producer(example(), 100, before=lambda: signals and signal.pthread_kill(main_thread, signals.pop()))
        with self.assertRaises(KeyboardInterrupt):
            sbps.fit(FORMULA, producer, **OPTIONS)

    def test_an_interrupt_ends_passes_over_rows_during_set_up(self):
        sampling = Sampling(take(example()), {"formula": FORMULA, **OPTIONS}, bar(False))
        real, passes = lib.made, []

        def made(name, *arguments):
            if name != "run_create":
                return real(name, *arguments)
            self.assertFalse(sampling.stop())  # as another thread would
            try:
                return real(name, *arguments)
            finally:
                passes.append(lib.library.sbps_table_passes(arguments[0]))

        lib.library.sbps_table_passes.restype = ctypes.c_double
        lib.library.sbps_table_passes.argtypes = [ctypes.c_void_p]
        with unittest.mock.patch.object(lib, "made", made), self.assertRaises(Stopped):
            sampling.execute()
        self.assertEqual(passes, [0.0])


class Bare(Case):
    def test_only_python_is_needed(self):
        done = subprocess.run([sys.executable, "-c", BARE], env=dict(os.environ, PYTHONPATH=PACKAGE), text=True,
                              capture_output=True, timeout=600)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_a_missing_library_is_reported(self):
        done = subprocess.run([sys.executable, "-c", "import sbps"], text=True, capture_output=True, timeout=600,
                              env=dict(os.environ, PYTHONPATH=PACKAGE, SBPS_LIBRARY=self.path("libsbps.so")))
        self.assertIn("ImportError: the library of sbps is not found", done.stderr)


if __name__ == "__main__":
    main()
