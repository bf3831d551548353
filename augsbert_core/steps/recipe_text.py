"""Recipes as TOML files: what a colleague gets, edits and sends back."""

import math
import tomllib
from dataclasses import Field, fields, is_dataclass
from typing import Any, get_args, get_type_hints

from augsbert_core import toml_text
from augsbert_core.errors import WorkbenchError
from augsbert_core.options import BiEncoderOptions, Stage

AT_LEAST: dict[str, float] = {
    "layers": 1,
    "gold_limit": 1,
    "silver_set_id": 1,
    "gold_repeats": 1,
    "epochs": 1,
    "max_steps": 1,
    "batch_size": 1,
    "max_length": 8,
    "patience": 0,
    "first_stage": 1,
    "seeds": 1,
    "seed": 0,
    "learning_rate": 0,
    "warmup_ratio": 0,
    "weight_decay": 0,
    "silver_weight": 0,
    "scale": 0,
    "checkpoint_seconds": 0,
}
"""The least value of an option, in stages too."""

AT_MOST: dict[str, float] = {"warmup_ratio": 1, "learning_rate": 1, "seed": 2**31 - 1}

NAMES = {int: "a whole number", float: "a number", str: "text in quotes", bool: "true or false"}


def to_toml(options: BiEncoderOptions) -> str:
    """A recipe as TOML; what is None is left out, which reads as None again."""
    return toml_text.to_toml(options)


def from_toml(text: str) -> BiEncoderOptions:
    """The inverse of `to_toml`; what the text does not say has its default.

    WorkbenchError: no TOML, an unknown key or a value that does not fit, with the place.
    """
    try:
        told = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise WorkbenchError(f"The recipe is not valid TOML: {_lower(str(error))}.") from None
    except RecursionError:
        raise WorkbenchError("The recipe is nested too deeply to be one.") from None
    stages = told.pop("stages", [])
    if not isinstance(stages, list) or not all(isinstance(stage, dict) for stage in stages):
        raise WorkbenchError(
            "Recipe, stages: write each stage as a table of its own, under a line [[stages]]."
        )
    values = _values(BiEncoderOptions, told, "Recipe")
    values["stages"] = tuple(
        Stage(**_values(Stage, stage, f"Recipe, stage {number}"))
        for number, stage in enumerate(stages, 1)
    )
    return BiEncoderOptions(**values)


def left_out(text: str) -> list[str]:
    """The options that a recipe does not name and that have a default, unlike those whose absence says "none"."""
    told = tomllib.loads(text)
    defaults = BiEncoderOptions()
    return [
        field.name
        for field in fields(BiEncoderOptions)
        if field.name not in told and getattr(defaults, field.name) not in (None, ())
    ]


def _values(options_class: type, told: dict[str, Any], place: str) -> dict[str, Any]:
    known = {field.name: field for field in fields(options_class) if not _holds_tables(field)}
    hints = get_type_hints(options_class)
    also = "" if len(known) == len(fields(options_class)) else ", and tables [[stages]]"
    values = {}
    for name, value in told.items():
        if name not in known:
            raise WorkbenchError(
                f"{place}: {name!r} is no option. Options are {', '.join(known)}{also}."
            )
        values[name] = _checked(f"{place}, {name}", name, value, hints[name])
    return values


def _holds_tables(field: Field[Any]) -> bool:
    return is_dataclass(field.metadata.get("of"))


def _checked(place: str, name: str, value: Any, hint: Any) -> Any:
    """The value in the type of its option, within its limits."""
    (wanted,) = [kind for kind in get_args(hint) or (hint,) if kind is not type(None)]
    if wanted is float and type(value) is int:
        value = float(value)
    if type(value) is not wanted:
        raise WorkbenchError(f"{place}: {value!r} is not {NAMES[wanted]}.")
    if isinstance(value, float) and not math.isfinite(value):
        raise WorkbenchError(f"{place}: {value} is no finite number.")
    if name in AT_LEAST and value < AT_LEAST[name]:
        raise WorkbenchError(f"{place}: {value} is too small; the least is {AT_LEAST[name]:g}.")
    if name in AT_MOST and value > AT_MOST[name]:
        raise WorkbenchError(f"{place}: {value} is too large; the most is {AT_MOST[name]:g}.")
    return value


def _lower(text: str) -> str:
    return text[:1].lower() + text[1:].rstrip(".")
