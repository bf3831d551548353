"""What JSON of an archive may look like: small shapes that say whether a value fits, made into larger ones.

Every number is finite and below `LARGEST`: a page may add, format and draw what has passed.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

LARGEST = 1e15
"""No count, second, score or id of the workbench comes near."""

LONGEST_TEXT = 1_000_000
LONGEST_LIST = 2_000_000
DEEPEST = 24

Shape = Callable[[Any], bool]


def is_number(value: Any) -> bool:
    """A finite number of a size that occurs."""
    return (
        isinstance(value, int | float)
        and not isinstance(value, bool)
        and -LARGEST <= value <= LARGEST
        and math.isfinite(value)
    )


def is_whole(value: Any) -> bool:
    """A whole number, such as a seed."""
    return isinstance(value, int) and is_number(value)


def is_count(value: Any) -> bool:
    """0, 1, 2, …"""
    return is_whole(value) and bool(value >= 0)


def is_positive(value: Any) -> bool:
    """1, 2, 3, …"""
    return is_whole(value) and bool(value >= 1)


def is_amount(value: Any) -> bool:
    """A number from 0 on, seconds for example."""
    return is_number(value) and bool(value >= 0)


def is_pace(value: Any) -> bool:
    """Things per second: what is 0 or vanishes leaves no time per thing."""
    return is_number(value) and bool(value >= 1e-6)


def is_score(value: Any) -> bool:
    """A correlation, an F1, a share, or the difference of two: never far from -1 to 1."""
    return is_number(value) and bool(-10 <= value <= 10)


def is_flag(value: Any) -> bool:
    """True or False."""
    return isinstance(value, bool)


def is_text(value: Any) -> bool:
    """Text that a database and a page can hold."""
    return isinstance(value, str) and len(value) <= LONGEST_TEXT and _is_encodable(value)


def is_json(value: Any, depth: int = 0) -> bool:
    """Anything of the size and depth that occurs, with numbers that occur."""
    if depth > DEEPEST:
        return False
    if isinstance(value, dict):
        return all(is_text(key) and is_json(item, depth + 1) for key, item in value.items())
    if isinstance(value, list):
        return len(value) <= LONGEST_LIST and all(is_json(item, depth + 1) for item in value)
    return value is None or isinstance(value, bool) or is_text(value) or is_number(value)


def maybe(shape: Shape) -> Shape:
    """The shape, or null."""
    return lambda value: value is None or shape(value)


def list_of(shape: Shape, least: int = 0, most: int = LONGEST_LIST) -> Shape:
    """A list whose items have the shape."""
    return lambda value: (
        isinstance(value, list) and least <= len(value) <= most and all(map(shape, value))
    )


def map_of(shape: Shape) -> Shape:
    """An object whose values have the shape, under whatever names."""
    return lambda value: (
        isinstance(value, dict) and is_json(value) and all(map(shape, value.values()))
    )


def one_of(*texts: str) -> Shape:
    """One of these texts."""
    return lambda value: isinstance(value, str) and value in texts


def tuple_of(*shapes: Shape) -> Shape:
    """A list of as many items, each with its own shape."""
    return lambda value: (
        isinstance(value, list)
        and len(value) == len(shapes)
        and all(shape(item) for shape, item in zip(shapes, value, strict=True))
    )


def record_of(needed: Mapping[str, Shape], known: Mapping[str, Shape] | None = None) -> Shape:
    """An object: names that must be there, names that may be there or null, and any others of JSON.

    Both ends of an interval, "low" and "high" in their names, are there or neither is.
    """
    optional = known or {}

    def fits(value: Any) -> bool:
        return (
            isinstance(value, dict)
            and is_json(value)
            and all(name in value and shape(value[name]) for name, shape in needed.items())
            and all(
                value.get(name) is None or shape(value[name]) for name, shape in optional.items()
            )
            and has_whole_intervals(value)
        )

    return fits


def has_whole_intervals(value: Mapping[str, Any]) -> bool:
    """Whether every "low" has its "high"."""
    ends = [name for name in value if name.endswith("low")]
    others = [name for name in value if name.endswith("high")]
    twins = {name.removesuffix("low") for name in ends if value[name] is not None}
    return twins == {name.removesuffix("high") for name in others if value[name] is not None}


def same_lengths(value: Mapping[str, Any], names: Sequence[str]) -> bool:
    """Whether these lists of an object have one length."""
    return len({len(value[name]) for name in names}) == 1


def _is_encodable(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
