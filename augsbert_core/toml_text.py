"""Options as TOML that people can read, keep in a repository and edit."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any, TypeVar

OptionsType = TypeVar("OptionsType")


def to_toml(options: Any, *, leave_out: Sequence[str] = (), comments: Sequence[str] = ()) -> str:
    """The options of a step as TOML, in the order of their fields.

    TOML has no word for None: such options are left out, and mean their default when read. A tuple of
    dataclasses becomes an array of tables. comments: lines at the top. leave_out: names of fields.
    """
    plain, tables = [], []
    for field in fields(options):
        value = getattr(options, field.name)
        if field.name in leave_out or value is None:
            continue
        if isinstance(value, tuple) and value and all(is_dataclass(item) for item in value):
            tables += [f"\n[[{field.name}]]\n" + _lines(_set_fields(item)) for item in value]
        elif value != () or not field.metadata.get("of"):
            plain.append((field.name, value))
    top = "".join(f"# {line}\n" if line else "#\n" for line in comments)
    return top + _lines(dict(plain)) + "".join(tables)


def toml_value(value: Any) -> str:
    """One value as TOML. ValueError: it has no form in TOML."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        # JSON's escapes are TOML's, but DEL must be escaped too.
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError(f"{value} cannot be written in TOML")
        return repr(value)
    if isinstance(value, list | tuple):
        return "[" + ", ".join(toml_value(item) for item in value) + "]"
    raise ValueError(f"a {type(value).__name__} cannot be written in TOML")


def _set_fields(item: Any) -> dict[str, Any]:
    found = {field.name: getattr(item, field.name) for field in fields(item)}
    return {name: value for name, value in found.items() if value is not None}


def _lines(values: Mapping[str, Any]) -> str:
    return "".join(f"{name} = {toml_value(value)}\n" for name, value in values.items())
