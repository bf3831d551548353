"""What each row is held against, and how far it is from it."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from augsbert_core import metrics
from augsbert_core.steps.compare.models import GOLD_ONLY, SILVER

if TYPE_CHECKING:
    from augsbert_core.steps.compare.groups import Group

NO_DIFFERENCE: dict[str, Any] = {
    "difference": None,
    "difference_low": None,
    "difference_high": None,
    "p": None,
    "p_adjusted": None,
    "reference": None,
    "equal_steps": None,
}


def add_differences(groups: Sequence["Group"], rows: Sequence[dict[str, Any]]) -> None:
    """Fill in each row's difference to its gold-only row, with interval, p, and p after Holm's correction."""
    common = _common_reference(groups)
    for group, row in zip(groups, rows, strict=True):
        row.update(NO_DIFFERENCE)
        reference = reference_of(group, groups) if group.kind in SILVER else None
        reference = reference or common
        if reference is None or reference is group:
            continue
        row["reference"] = reference.facts["name"]
        if group.kind in SILVER:
            row["equal_steps"] = bool(group.steps & reference.steps)
        ours, theirs = group.mean("value"), reference.mean("value")
        if ours is None or theirs is None or group.replicates is None:
            continue
        row["difference"] = ours - theirs
        if reference.replicates is None:
            continue
        found = metrics.difference_of(ours - theirs, group.replicates - reference.replicates)
        if found is not None:
            row |= {"difference_low": found.low, "difference_high": found.high, "p": found.p}
    _correct(rows)


def reference_of(group: "Group", groups: Sequence["Group"]) -> "Group | None":
    """The fairest gold-only row for a row with silver; None when there is none of its base.

    A model adapted to a new domain by silver alone is held against the source-only one, which is what there would
    be without it (paper, section 3.2).
    As many steps first, then as much gold, then the recipe that is most alike, then the newest. Without a row of
    equal steps, the one with the most steps.
    """
    lower = [one for one in groups if _is_reference(one) and _base(one) == _base(group)]
    if group.kind == "adapted":
        lower = [one for one in groups if _is_source(one) and _base(one) == _base(group)] or lower
    if group.kind == "cross-encoder student":
        return None
    if not lower:
        return None
    limit = group.facts.get("gold_limit")
    same_gold = [one for one in lower if one.facts.get("gold_limit") == limit]
    lower = same_gold or lower
    twins = [one for one in lower if one.steps & group.steps]
    if twins:
        return max(twins, key=lambda one: (_likeness(one, group), len(one.rows), one.newest))
    return max(lower, key=lambda one: (max(one.steps), _likeness(one, group), one.newest))


def _common_reference(groups: Sequence["Group"]) -> "Group | None":
    """What rows without a base of their own are held against: the reference of the newest row with silver."""
    augmented = [one for one in groups if one.kind == "augsbert" and one.rows[0]["comparable"]]
    for one in sorted(augmented, key=lambda one: (-len(one.rows), -one.newest)):
        found = reference_of(one, groups)
        if found is not None:
            return found
    lower = [one for one in groups if _is_reference(one) and one.rows[0]["comparable"]]
    return max(lower, key=lambda one: (len(one.rows), one.newest), default=None)


def _is_reference(group: "Group") -> bool:
    return group.kind in GOLD_ONLY and group.mean("value") is not None


def _is_source(group: "Group") -> bool:
    return group.kind == "source only" and group.mean("value") is not None


def _base(group: "Group") -> tuple[str | None, int | None]:
    return group.models[0].base, group.models[0].layers


def _likeness(group: "Group", other: "Group") -> int:
    """In how many options two recipes agree."""
    return sum(other.facts.get(name) == value for name, value in group.facts.items())


def _correct(rows: Sequence[dict[str, Any]]) -> None:
    """Holm's correction: the smallest p times the number of tests, the next times one less, never falling."""
    compared = (row for row in rows if row["p"] is not None and row["comparable"])
    tested = sorted(compared, key=lambda row: row["p"])
    worst = 0.0
    for place, row in enumerate(tested):
        worst = max(worst, min(1.0, row["p"] * (len(tested) - place)))
        row["p_adjusted"] = worst
