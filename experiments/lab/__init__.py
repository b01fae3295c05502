"""What the experiments share. An experiment is a folder beside this one with run.py:

    TITLE = "Figure 1: ..."
    def run(lab):    runs the program, writes tables, states facts and claims
    def check(lab):  asserts that the tables agree with the caption

plot.gp, which draws the tables, and page.md, its section of docs/paper.md."""
from lab.bench import Lab, Failure  # noqa: F401
from lab.series import acf, ess, mean_error, median_error, near_limit  # noqa: F401
