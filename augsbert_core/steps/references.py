"""Options of a planned run that stand for results of earlier runs: "{KEY.FIELD}"."""

import json
import re
from collections.abc import Callable
from typing import Any

from augsbert_core.errors import WorkbenchError
from augsbert_core.options import PlannedRun

REFERENCE = re.compile(r"\{([^{}.]+)\.([a-z_0-9]+)\}")


def referred(planned: PlannedRun) -> list[str]:
    """The keys of the runs whose results a planned run needs, in order, each once."""
    return list(dict.fromkeys(key for key, _ in REFERENCE.findall(planned.options)))


def resolved(planned: PlannedRun, results: dict[str, dict[str, Any]]) -> str:
    """The options as JSON with every reference replaced by its value.

    results: key → what the run found out. A text that is one reference takes the value as it is, a number
    stays a number; within a longer text it is written out. WorkbenchError: a run has no such result.
    """

    def value_of(key: str, field: str) -> Any:
        found = results.get(key, {}).get(field)
        if found is None:
            raise WorkbenchError(
                f"Run {planned.key!r} needs {field!r} of run {key!r}, which has none. "
                "Look at that run on the Jobs page."
            )
        return found

    return json.dumps(_replaced(json.loads(planned.options), value_of), sort_keys=True)


def _replaced(value: Any, value_of: Callable[[str, str], Any]) -> Any:
    if isinstance(value, dict):
        return {key: _replaced(item, value_of) for key, item in value.items()}
    if isinstance(value, list):
        return [_replaced(item, value_of) for item in value]
    if not isinstance(value, str):
        return value
    whole = REFERENCE.fullmatch(value)
    if whole:
        return value_of(whole[1], whole[2])
    return REFERENCE.sub(lambda found: str(value_of(found[1], found[2])), value)
