"""What results of the guided demo must look like to be shown: a file cut short or of another version is not half read."""

from collections.abc import Callable, Mapping
from math import isfinite
from typing import Any

from augsbert_core.steps.learn_figures import SERIES
from augsbert_core.steps.learn_recipe import STRATEGIES

INTERVAL = ("low", "high")
DIFFERENCE = ("difference", "difference_low", "difference_high")
GATES = ("gold-small", "gold-full")
COUNTS = ("n_gold", "n_silver")


def wrong_in(name: str, found: object) -> str:
    """What is wrong with results of this name, as the place in the file; "" when all of it can be shown.

    Some parts may be missing; "made" may not.
    """
    if not isinstance(found, Mapping):
        return "not a table of results"
    if not _is_made(found.get("made")):
        return "made"
    if not any(part in found for part in PARTS[name]):
        return "nothing but made"
    return next((part for part in PARTS[name] if not _fits(name, part, found)), "")


def sound(name: str, found: Mapping[str, Any]) -> dict[str, Any]:
    """The same results without the parts that cannot be shown."""
    wrong = {part for part in PARTS[name] if not _fits(name, part, found)}
    return {part: value for part, value in found.items() if part not in wrong}


def _fits(name: str, part: str, found: Mapping[str, Any]) -> bool:
    if part not in found:
        return True
    if part == "dev":
        return _is_seeds(found)
    if part == "points" and not _is_count(found.get("n_test")):
        return False
    return PARTS[name][part](found[part])


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _is_open(value: object) -> bool:
    """A number, or nothing where it is not defined."""
    return value is None or _is_number(value)


def _are(values: object, fits: Callable[[Any], bool], least: int = 1) -> bool:
    """A list of so many at least, all of which fit."""
    return isinstance(values, list) and len(values) >= least and all(map(fits, values))


def _has(value: object, fits: Callable[[Any], bool], *names: str) -> bool:
    """A table with these entries, all of which fit."""
    return isinstance(value, Mapping) and all(name in value and fits(value[name]) for name in names)


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_made(made: Any) -> bool:
    return (
        _has(made, _is_text, "date", "device")
        and _has(made, _is_count, "run_id", "seed", "n_done", "n_runs")
        and isinstance(made.get("versions") or {}, Mapping)
    )


def _is_labeler(value: Any) -> bool:
    return (
        _has(value, _is_number, "dev_score")
        and _is_open(value.get("seconds"))
        and _are(value.get("curve"), lambda point: _are(point, _is_number) and len(point) == 2)
    )


def _are_bins(value: object) -> bool:
    """Counts in bins of the scale, with one pair at least: of none there is no density."""
    return isinstance(value, list) and _are(value, _is_count) and sum(value) > 0


def _are_strategies(value: object) -> bool:
    return isinstance(value, Mapping) and all(
        name in STRATEGIES
        and _has(one, _are_bins, "bins")
        and _has(one, _is_count, "n_pairs", "passes")
        and _has(one, _is_open, "distance", "kl")
        for name, one in value.items()
    )


def _are_judged(value: object) -> bool:
    return _are(
        value,
        lambda pair: (
            _has(pair, _is_text, "sentence1", "sentence2") and _has(pair, _is_number, "score")
        ),
        0,
    )


def _are_gates(value: object) -> bool:
    return isinstance(value, Mapping) and all(
        name in GATES
        and _has(gate, _is_open, "value", "student", *INTERVAL, *DIFFERENCE)
        and _has(gate, lambda told: told is None or _is_text(told), "sentence")
        and _has(gate, lambda n: n is None or _is_count(n), "n_pairs")
        for name, gate in value.items()
    )


def _are_rows(value: object) -> bool:
    return _are(
        value,
        lambda row: (
            _has(row, _is_text, "key", "name", "kind")
            and _has(row, _is_number, "value")
            and _has(row, _is_open, *INTERVAL, *DIFFERENCE, "p")
            and _has(row, lambda n: n is None or _is_count(n), *COUNTS)
        ),
        0,
    )


def _is_example(value: Any) -> bool:
    return (
        _has(value, _is_number, "score")
        and _are(value.get("pair"), _is_text, 2)
        and len(value["pair"]) == 2
    )


def _are_points(value: object) -> bool:
    return _are(
        value,
        lambda point: (
            _is_start(point)
            and point.get("series") in SERIES.values()
            and _has(point, _is_count, "n_gold")
            and ("difference" not in point or _has(point, _is_number, "difference"))
            and all(_is_open(point.get(name)) for name in DIFFERENCE[1:])
        ),
        0,
    )


def _is_start(value: object) -> bool:
    return _has(value, _is_number, "value") and _has(value, _is_open, *INTERVAL)


def _is_seeds(found: Mapping[str, Any]) -> bool:
    """Whether the dev scores are a whole table: a row for each seed, a column for each share of the steps."""
    dev, seeds, fractions = found["dev"], found.get("seeds"), found.get("fractions")
    return (
        _are(fractions, _is_number, 2)
        and _are(seeds, _is_count, 2)
        and _are(dev, lambda row: _are(row, _is_number))
        and _are(found.get("test"), _is_open)
        and {len(row) for row in dev} == {len(fractions or ())}
        and len(dev) == len(seeds or ()) == len(found["test"])
        and _has(found, _is_count, "n_gold", "n_steps")
    )


PARTS: dict[str, dict[str, Callable[[Any], bool]]] = {
    "loop": {
        "labeler": _is_labeler, "strategies": _are_strategies, "pool": _are_bins, "judged": _are_judged,
        "gates": _are_gates, "rows": _are_rows, "example": _is_example,
    },
    "adaptation": {"rows": _are_rows},
    "curve": {"points": _are_points, "untrained": _is_start, "warm": _is_start},
    "seeds": {"dev": _is_seeds},
}  # fmt: skip
"""Name of the results → their parts, with what tells whether a part can be shown."""
