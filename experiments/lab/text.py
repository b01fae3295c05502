"""Results as text, for claims and their folded numbers."""


def show(value, error=0.0):
    """Two digits of the error, or three of the value where there is none."""
    if not error > 0:
        return f"{value:.3g}"
    places = max(0, 1 - int(f"{error:e}".split("e")[1]))
    return f"{value:.{places}f} +- {error:.{places}f}"


def markdown(head, rows):
    """A table in Markdown."""
    return "\n".join(["| " + " | ".join(map(str, row)) + " |"
                      for row in (head, ["---"] * len(head), *rows)])
