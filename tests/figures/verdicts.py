#!/usr/bin/python3
"""An experiment in its smallest form, and a proof that its verdicts follow from its results.

    tests/figures/verdicts.py NAME DIR      runs and draws experiment NAME, results in DIR/NAME
    tests/figures/verdicts.py               reads all experiments: every published verdict has a claim in run.py

The experiment runs once, and what the program returned is recorded. It is then evaluated again on
disturbed copies of these records: every number multiplied by a random factor. A verdict that is the
same in all of them is not decided by results, and the test fails."""
import ast
import collections
import contextlib
import copy
import csv
import importlib.machinery
import importlib.util
import io
import os
import re
import shutil
import sys
import tempfile

ROOT = os.environ.get("SBPS_SOURCE_DIR") or os.path.realpath(os.path.join(os.path.dirname(__file__), "..", ".."))
PROGRAM = os.path.abspath(os.environ.get("SBPS_PROGRAM") or os.path.join(ROOT, "build", "sbps"))
EXPERIMENTS = os.path.join(ROOT, "experiments")
DISTURBED = 40          # copies, at most
SIMULATIONS = {"noise": (("independence", "simulate"), ("reversible", "compare"))}  # without the program, by module
# standard deviation of the logarithms of the factors, and how often neighbours in a list differ
WAYS = (0.3, 1.0), (1.0, 0.3), (1.0, 1.0), (3.0, 0.3), (0.3, 0.1)
DEPTH = 6               # of nested results

sys.dont_write_bytecode = True


def load_run():
    loader = importlib.machinery.SourceFileLoader("experiments_run", os.path.join(EXPERIMENTS, "run"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("experiments_run", loader))
    loader.exec_module(module)
    return module


# ---- disturbed records


def disturbed(value, random, how, depth=DEPTH):
    """A copy with every number, truth value and array multiplied or flipped at random."""
    import numpy
    size = how[0]
    if isinstance(value, (bool, numpy.bool_)):
        return value if random.random() < 0.7 else not value
    if isinstance(value, (int, numpy.integer)):
        return type(value)(round(float(value) * numpy.exp(size * random.standard_normal()))) if abs(value) < 1e9 else value
    if isinstance(value, (float, numpy.floating)):
        return float(value) * float(numpy.exp(size * random.standard_normal()))
    if isinstance(value, numpy.ndarray):
        if value.dtype.kind != "f":
            return value.copy()
        return value * numpy.exp(size * random.standard_normal()) + size * random.standard_normal() * numpy.nan_to_num(value.std())
    if depth == 0:
        return copy.copy(value)
    if isinstance(value, dict):
        return {key: disturbed(item, random, how, depth - 1) for key, item in value.items()}
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(disturbed(item, random, how, depth - 1) for item in value))
    if isinstance(value, (list, tuple)):
        return type(value)(disturbed(item, other, how, depth - 1) for item, other in zip(value, sources(random, how)))
    if hasattr(value, "__dict__") and not callable(value) and not hasattr(value, "sample"):
        new = copy.copy(value)
        new.__dict__.update({key: disturbed(item, random, how, depth - 1) for key, item in vars(value).items()})
        return new
    return value


def sources(random, how):
    """Random numbers for the items of a list. Neighbours often get the same: they are seeds of one setting, and factors that
    differ between seeds alone would make every verdict inconclusive."""
    import numpy
    seed = random.integers(2**32)
    while True:
        yield numpy.random.default_rng(seed)
        if random.random() < how[1]:
            seed = random.integers(2**32)


def recorder(lab_class):
    """A Lab that records what program and simulations returned, or returns disturbed records."""

    class Recorder(lab_class):
        records, random, how, inside, calls = None, None, WAYS[0], False, None

        def once(self, name, function):
            """The result of `function`, disturbed if it is recorded under its name and number. Calls within a recorded
            call are not recorded."""
            if self.inside:
                return function()
            key = name, self.calls[name]
            self.calls[name] += 1
            if self.random is None:
                self.inside = True
                try:
                    self.records[key] = result = function()
                except Exception as refusal:
                    self.records[key] = refusal
                    raise
                finally:
                    self.inside = False
                return copy.deepcopy(result)
            record = self.records[key]
            if isinstance(record, Exception) and self.random.random() < 0.7:
                raise record
            return disturbed(record, self.random, self.how)

        def map(self, function, *items):
            return self.once("map", lambda: super(Recorder, self).map(function, *items))

        def sample(self, *words, **named):
            name = re.sub(r"[0-9.]+", "#", repr((words, named)))  # numbers may depend on results
            return self.once(name, lambda: super(Recorder, self).sample(*words, **named))

        def call(self, *words):
            return self.once(re.sub(r"[0-9.]+", "#", repr(words)), lambda: super(Recorder, self).call(*words))

        def load(self, run):
            """The experiment; its own simulations are recorded, too."""
            experiment = run.load(self.name)
            for module, function in SIMULATIONS.get(self.name, ()):
                module = getattr(experiment, module)
                plain = vars(module).setdefault(f"plain_{function}", getattr(module, function))
                setattr(module, function, lambda *words, plain=plain: self.once(plain.__module__, lambda: plain(*words)))
            return experiment

    return Recorder


@contextlib.contextmanager
def disturbed_files(random, how):
    """What an experiment reads from files: tables, and posteriors that earlier runs left."""
    import numpy
    plain = {name: getattr(numpy, name) for name in ("loadtxt", "load")}
    for name, function in plain.items():
        setattr(numpy, name, lambda *words, function=function, **named: disturbed(function(*words, **named), random, how))
    try:
        yield
    finally:
        for name, function in plain.items():
            setattr(numpy, name, function)


def perform(run, name, folder):
    """The recorded experiment, its folder of results, and its verdicts."""
    from lab import Lab
    out = os.path.join(folder, name)
    data = os.path.join(folder, "data")
    os.makedirs(data, exist_ok=True)
    work = tempfile.mkdtemp(prefix=f"sbps-{name}-")
    lab = recorder(Lab)(name, "smoke", out, work, PROGRAM, 1, data)
    lab.records, lab.calls = {}, collections.Counter()
    experiment = lab.load(run)
    experiment.run(lab)
    lab.finish(0.0)
    experiment.check(lab)
    run.draw(name, out)
    return lab


def verdicts(lab):
    return {claim[0]: claim[2] for claim in lab.claims}


def clear(random):
    """A value and its error."""
    value = float(10 ** random.uniform(-2, 2))
    return value, value * random.choice([0.001, 0.02])


def evaluate(run, lab, seed, how):
    """Verdicts of a disturbed copy, as far as it can be evaluated."""
    import numpy
    new = copy.copy(lab)
    new.out = tempfile.mkdtemp(dir=lab.work)
    new.facts, new.claims, new.calls = [], [], collections.Counter()
    new.random, new.how = numpy.random.default_rng(seed), how
    with contextlib.redirect_stderr(io.StringIO()), numpy.errstate(all="ignore"), disturbed_files(new.random, how):
        try:
            experiment = new.load(run)
            for name in ("mean_error", "median_error"):  # clear differences
                if seed % 2 and hasattr(experiment, name):
                    setattr(experiment, name, lambda values: clear(new.random))
            experiment.run(new)
        except Exception as problem:  # absurd results may break a table; claims made before count
            evaluate.problem = problem
    return verdicts(new)


evaluate.problem = None


def one(name, folder):
    import warnings
    warnings.simplefilter("ignore")
    if not shutil.which("gnuplot"):
        print("skipped: gnuplot is missing")
        return 77
    run = load_run()
    lab = perform(run, name, folder)
    real = verdicts(lab)
    fixed = dict(real)
    for i in range(DISTURBED):
        found = evaluate(run, lab, i, WAYS[i % len(WAYS)])
        fixed = {key: verdict for key, verdict in fixed.items() if found.get(key, verdict) == verdict}
        if not fixed:
            break
    for key, verdict in fixed.items():
        print(f"{name}: claim '{key}': '{verdict}' in {DISTURBED} disturbed copies of the results: nothing decides it ({evaluate.problem!r})")
    print(f"{name}: {len(real)} verdicts, {len(real) - len(fixed)} change with the results")
    shutil.rmtree(lab.work, ignore_errors=True)
    return bool(fixed) or not real


# ---- the source


def claims_of(path):
    """(key, verdict arguments) of the calls of lab.claim in a file; a key that is a variable is None."""
    with open(path, encoding="utf-8") as file:
        tree = ast.parse(file.read())
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "claim":
            named = {word.arg: word.value for word in node.keywords}
            values = dict(zip(("key", "text", "holds", "found", "why", "partly", "unsure"), node.args), **named)
            key = values["key"].value if isinstance(values["key"], ast.Constant) else None
            yield key, [values[part] for part in ("holds", "partly", "unsure") if part in values]


def read_all():
    """Faults of the sources: published verdicts without a claim, and verdicts that are constants."""
    faults, count = [], 0
    for name in sorted(os.listdir(EXPERIMENTS)):
        folder = os.path.join(EXPERIMENTS, name)
        if not os.path.exists(os.path.join(folder, "run.py")):
            continue
        calls = [call for file in sorted(os.listdir(folder)) if file.endswith(".py") for call in claims_of(os.path.join(folder, file))]
        for key, parts in calls:
            if all(isinstance(part, ast.Constant) for part in parts):
                faults.append(f"{name}: claim '{key}': its verdict is a constant")
        keys = {key for key, _ in calls}
        with open(os.path.join(folder, "results", "claims.csv"), newline="", encoding="utf-8") as file:
            for claim in csv.DictReader(file):
                count += 1
                if claim["key"] not in keys and None not in keys:
                    faults.append(f"{name}: claim '{claim['key']}' is published, and run.py does not make it")
    for fault in faults:
        print(fault)
    print(f"{count} published verdicts, {len(faults)} faults")
    return bool(faults) or not count


if __name__ == "__main__":
    sys.exit(one(*sys.argv[1:]) if len(sys.argv) > 1 else read_all())
