"""Names for the rows of the compare table: what they learned from, and in what they differ."""

import re
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from augsbert_core.errors import WorkbenchError
from augsbert_core.steps.names import model_label
from augsbert_core.storage import silver_sets
from augsbert_core.storage.database import Workspace

if TYPE_CHECKING:
    from augsbert_core.steps.compare.groups import Group

PREFIXES = {
    "augsbert": "AugSBERT",
    "adapted": "Silver only",
    "cross-encoder student": "Cross-encoder student",
}

PLAIN = {
    "gold-only": "Gold only",
    "gold-only, equal steps": "Gold only, equal steps",
    "cross-encoder": "Cross-encoder",
}

WORDS = {
    "learning_rate": "lr",
    "batch_size": "batch",
    "n_steps": "steps",
    "max_steps": "steps at most",
    "gold_limit": "gold pairs",
    "silver_weight": "silver weight",
    "gold_repeats": "gold repeats",
    "warm_start": "warm start",
    "seeds": "seeds tried",
    "silver_scores": "silver scores",
    "keep_rejected": "rejected pairs kept",
    "promote": "corrections as gold",
}

SAMPLING_SEED = re.compile(r", seed \d+")
"""A row may hold silver sets of several seeds."""

LOST_IN_NAMES = ("step", "name", "gold_hash", "silver_set_id", "max_steps")


def name_groups(workspace: Workspace, groups: Sequence["Group"], *, single: bool) -> None:
    """Put a short name into each group's facts, different from all others."""
    for group in groups:
        group.facts["name"] = _name(workspace, group)
        group.facts["n_steps"] = max(group.steps, default=0)
    _tell_apart(groups)
    counts = Counter(group.facts["name"] for group in groups)
    for group in groups:
        if group.newest and (single or counts[group.facts["name"]] > 1):
            run_ids = sorted(model.run.id for model in group.models if model.run)
            group.facts["name"] += f" · {_numbers('run', run_ids)}"


def silver_name(workspace: Workspace, set_ids: Sequence[int]) -> str:
    """The strategy of silver sets with their numbers, "BM25 top-5 (silver set 3)"."""
    # The table of strategies reads the compare table, so it comes later.
    from augsbert_core.steps.strategies import strategy_text

    numbers = _numbers("silver set", set_ids)
    try:
        one = silver_sets.get_silver_set(workspace, set_ids[0])
    except WorkbenchError:
        return numbers
    text = "NLPAug" if one.labeler == "nlpaug" else SAMPLING_SEED.sub("", strategy_text(one))
    if one.strategy == "stratified-kde":
        text = text.split(" → ")[0]  # its c is what came out, not what was asked for
    return f"{text} ({numbers})"


def _name(workspace: Workspace, group: "Group") -> str:
    model = group.models[0]
    if group.kind in PREFIXES:
        set_ids = sorted({m.silver_set_id for m in group.models if m.silver_set_id is not None})
        silver = silver_name(workspace, set_ids)
        if silver.startswith("NLPAug"):
            return silver
        return f"{PREFIXES[group.kind]} · {silver}"
    if group.kind == "gold-only, seeds tried":
        return f"Gold only, best of {group.facts.get('seeds', 0)} seeds on dev"
    if group.kind in PLAIN and model.options is not None:
        return PLAIN[group.kind]
    if group.kind == "source only":
        return f"Source only: {model.name}"
    return model.name


def _tell_apart(groups: Sequence["Group"]) -> None:
    """Add to groups of one name the options in which they differ."""
    by_name: dict[str, list[Group]] = {}
    for group in groups:
        plain = group.facts["name"].split(" (silver set")[0]
        if group.models[0].options is not None:
            by_name.setdefault(plain, []).append(group)
    for alike in by_name.values():
        if len(alike) < 2:
            continue
        names = dict.fromkeys(name for group in alike for name in group.facts)
        differing = [
            name
            for name in names
            if name not in LOST_IN_NAMES
            and len({str(group.facts.get(name)) for group in alike}) > 1
        ]
        # The number of steps follows from the other options, where these differ.
        differing = [name for name in differing if name != "n_steps"] or differing
        for group in alike:
            told = [_fact(name, group.facts.get(name)) for name in differing[:3]]
            group.facts["name"] = " · ".join([group.facts["name"], *filter(None, told)])


def _fact(name: str, value: Any) -> str:
    word = WORDS.get(name, name.replace("_", " "))
    if name == "base":
        return model_label(str(value))
    if name == "layers":
        return f"{value} layers" if value else "all layers"
    if name == "n_steps":
        return f"{value:,} steps"
    if name == "gold_limit":
        return f"{value:,} gold pairs" if value else ""
    if name == "learning_rate":
        return f"lr {value:.0e}".replace("e-0", "e-")
    if name == "stages":
        return " then ".join(str(stage["data"]) for stage in value) if value else "one stage"
    if name == "corrections_of":
        return "with corrections" if value else ""
    if isinstance(value, bool):
        return word if value else f"not {word}"
    return f"{word} {value}"


def _numbers(word: str, numbers: Sequence[int]) -> str:
    return f"{word}{'' if len(numbers) == 1 else 's'} {', '.join(str(one) for one in numbers)}"
