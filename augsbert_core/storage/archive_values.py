"""Single values of an archive that nobody vouches for, checked before they are taken over."""

import json
from datetime import datetime
from typing import Any

from augsbert_core.errors import WorkbenchError
from augsbert_core.storage.archive_metrics import are_details
from augsbert_core.storage.archive_references import json_object
from augsbert_core.storage.database import now


def as_object(text: str) -> dict[str, Any]:
    """The JSON object that a cell holds. WorkbenchError: it holds none."""
    found = json_object(text)
    if found is None:
        raise broken("what should be a JSON object is none")
    return found


def as_details(text: str) -> str:
    """The further figures of a measurement, as JSON. WorkbenchError: they are none."""
    found = as_object(text)
    if not are_details(found):
        raise foreign("the further figures of a measurement are none")
    return json.dumps(found)


def as_moment(text: str | None) -> str | None:
    """A time of this age with its zone. WorkbenchError: it is none."""
    if text is None:
        return None
    try:
        found = datetime.fromisoformat(text)
    except ValueError as error:
        raise broken(f"{text[:40]!r} is no time") from error
    if not 2000 <= found.year < 2200:  # the ends of the calendar are in no other time zone
        raise foreign(f"{text[:40]!r} is no time at which it was there")
    return text if found.tzinfo else now()


def broken(why: str) -> WorkbenchError:
    """The refusal of a database in which rows do not fit together."""
    return WorkbenchError(
        f"The archive's database is not whole: {why}. Nothing was imported; export the project again."
    )


def foreign(what: str) -> WorkbenchError:
    """The refusal of values that the workbench would not have written."""
    return WorkbenchError(
        f"The archive is not what the workbench writes: {what}. Nothing was imported; export the project again."
    )
