#!/usr/bin/python3
"""The installed package works: by make install-python for the user and into a prefix, and by pip if that is
installed."""
import importlib.util
import os
import subprocess
import sys

from common import BUILD, LIBRARY, PACKAGE, ROOT, Case, main

USE = """
import sbps
print(sbps.__file__)
print(sbps.fit("y ~ x", {"x": [1, 2, 3, 4], "y": [1.0, 2.5, 2.9, 4.2]}, family="gaussian").names)
"""


class Installed(Case):
    def environment(self, **more):
        plain = {name: value for name, value in os.environ.items()
                 if name not in ("SBPS_LIBRARY", "PYTHONPATH", "DESTDIR", "PYTHONUSERBASE", "PYTHONNOUSERSITE")}
        return {**plain, "HOME": self.folder, **more}

    def do(self, *command, **more):
        done = subprocess.run(command, cwd=self.folder, env=self.environment(**more), text=True, capture_output=True,
                              timeout=600)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def install(self, *where, **more):
        script = os.path.join(ROOT, "scripts", "install-python.sh")
        return self.do("bash", script, BUILD, sys.executable, *where, **more)

    def assert_works(self, below, **more):
        lines = self.do(sys.executable, "-c", USE, **more).splitlines()
        self.assertTrue(lines[0].startswith(below), lines[0])
        self.assertEqual(lines[1], "['(Intercept)', 'x', 'sigma']")

    def test_for_the_user_and_again(self):
        for _ in range(2):
            self.install()
            self.assert_works(self.folder)

    def test_into_a_prefix(self):
        prefix = self.path("some prefix")
        self.assertIn("PYTHONPATH=", self.install(prefix))
        self.assert_works(prefix, PYTHONPATH=os.path.join(prefix, "lib", "python3", "site-packages"))

    def test_another_package_stays(self):
        there = self.path("prefix/lib/python3/site-packages/sbps")
        os.makedirs(there)
        script = os.path.join(ROOT, "scripts", "install-python.sh")
        done = subprocess.run(["bash", script, BUILD, sys.executable, self.path("prefix")], capture_output=True)
        self.assertNotEqual(done.returncode, 0)
        self.assertEqual(os.listdir(there), [])

    def test_by_pip(self):
        for name in ("pip", "setuptools", "wheel"):
            if not importlib.util.find_spec(name):
                self.skipTest(name + " is not there")
        source = self.path("source")  # building writes files beside it
        self.do("cp", "-r", PACKAGE, source)
        self.do(sys.executable, "-m", "pip", "install", "-q", "--no-build-isolation", "--no-index", "--target",
                self.path("target"), source)
        self.assert_works(self.path("target"), PYTHONPATH=self.path("target"), SBPS_LIBRARY=LIBRARY)


if __name__ == "__main__":
    main()
