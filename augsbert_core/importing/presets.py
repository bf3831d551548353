"""Well-known files of sentence pairs, recognised by their header or shape."""

from dataclasses import dataclass

from augsbert_core.importing.columns import Columns
from augsbert_core.importing.table import Table
from augsbert_core.pairs import ScoreRange


@dataclass(frozen=True)
class Preset:
    """A well-known format. title: for the screen, "STS Benchmark". kinds: the kinds of content that such a file
    can be imported as, the usual one first. columns: of that kind. score_range, labels: as the format defines them;
    None and {} when it leaves them open."""

    name: str
    title: str
    kinds: tuple[str, ...]
    columns: Columns
    score_range: ScoreRange | None = None
    labels: tuple[tuple[str, float], ...] = ()


def recognise(table: Table, kind: str) -> Preset | None:
    """The well-known format of a table that is to be read as this kind of content; None when it is none."""
    return None
