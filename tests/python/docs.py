#!/usr/bin/python3
"""The examples of docs/python.md and of every docstring run; those of docstrings print what is stated."""
import contextlib
import doctest
import importlib.util
import inspect
import io
import os
import pkgutil
import re
import unittest
import warnings

from common import ROOT, Case, main, sbps

try:
    import pandas  # noqa: F401  for data frames in docstrings
except ImportError:
    pandas = None


def public():
    """Functions, classes and methods of the package, but for exceptions and properties of one value."""
    for name in sbps.__all__:
        made = getattr(sbps, name)
        if inspect.isclass(made) and issubclass(made, (Exception, Warning)):
            continue
        yield name, made
        for method, function in vars(made).items() if inspect.isclass(made) else ():
            if not method.startswith("_") and inspect.isfunction(function):
                yield f"{name}.{method}", function


class Examples(Case):
    def setUp(self):
        super().setUp()
        before = os.getcwd()
        self.addCleanup(os.chdir, before)
        os.chdir(self.folder)

    def run_page(self, path, count):
        with open(os.path.join(ROOT, path)) as page:
            examples = re.findall(r"^```python\n(.*?)^```", page.read(), re.M | re.S)
        self.assertEqual(len(examples), count)
        names, shown = {}, io.StringIO()
        with contextlib.redirect_stdout(shown), warnings.catch_warnings():
            warnings.simplefilter("error", sbps.SbpsWarning)
            for example in examples:
                exec(compile(example, path, "exec"), names)
        return names, shown

    def test_page_of_functions(self):
        names, _ = self.run_page("docs/models/function.md", 1)
        self.assertEqual(names["fit"].names, ["a", "b", "log_sigma"])
        self.assertLess(abs(names["fit"].draws[:, :, 1].mean() - 2), 0.1)

    def test_page(self):
        _, shown = self.run_page("docs/python.md", 5)
        self.assertIn("no-such-file.csv", shown.getvalue())
        self.assertTrue(os.path.exists("page.html"))

    @unittest.skipUnless(pandas, "pandas is not there")
    def test_docstrings(self):
        tried, names = 0, [one.name for one in pkgutil.iter_modules(sbps.__path__)]
        if not importlib.util.find_spec("sklearn"):
            names.remove("sklearn")
        for module in [sbps, *(importlib.import_module("sbps." + name) for name in names)]:
            runner = doctest.DocTestRunner()
            for test in doctest.DocTestFinder().find(module, module.__name__):
                if "to_inferencedata" not in test.name or importlib.util.find_spec("arviz"):
                    runner.run(test)
            failed, count = runner.summarize()
            self.assertEqual(failed, 0, module.__name__)
            tried += count
        self.assertGreater(tried, 60)

    def test_every_public_function_has_an_example(self):
        self.assertEqual([name for name, made in public() if ">>>" not in (made.__doc__ or "")], [])


if __name__ == "__main__":
    main()
