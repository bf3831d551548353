"""How far the annotators of a task agree, as plain data: coefficients, each person, each two, the worst pairs."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pandas as pd

from augsbert_core import metrics
from augsbert_core.metrics.audit import weighted_spearman
from augsbert_core.metrics.bootstrap import interval
from augsbert_core.scales import Level
from augsbert_core.storage import annotation_tasks, annotations
from augsbert_core.storage.database import Workspace

SEED = 20_110
RESAMPLES = 1000
FEWEST_RESAMPLES, WORK, CELLS = 200, 20_000_000, 1_000_000
"""Very large tasks of very different scores are resampled less often; a part of the resamples is held at a time."""
TENTATIVE, RELIABLE = 0.667, 0.8
"""Krippendorff (2004), Content Analysis, 2nd edition, p. 241: below the first do not conclude, above the second do."""


@dataclass(frozen=True)
class Figure:
    """One measure: its value, its 95 % interval where there is one, and how many pairs it rests on.

    value: None where it is not defined, and then reason says why; else reason is "".
    """

    value: float | None
    n_pairs: int
    interval: tuple[float, float] | None = None
    reason: str = ""


@dataclass(frozen=True)
class AnnotatorFigures:
    """One annotator: how many pairs they scored, how many of those someone else did too, and how they differ.

    mean, bias, spread: on the scale of 0 to 1; see `metrics.AnnotatorBias`. n_seen: scores given after the model's
    suggestion was shown.
    """

    name: str
    n_scores: int
    n_shared: int
    n_seen: int
    mean: float | None
    bias: float | None
    spread: float | None


@dataclass(frozen=True)
class TwoFigures:
    """Two annotators on the pairs that both scored. weighted: Cohen's κ with squared distances, for ordered scales."""

    first: str
    second: str
    n_shared: int
    kappa: float | None
    weighted: float | None
    spearman: float | None
    mean_apart: float | None


@dataclass(frozen=True)
class AgreementReport:
    """What the scores of a task say about its annotators.

    scores: (annotators, pairs) in [0, 1], NaN where not scored; items: one row per pair, in the same order, with
    columns item_id, sentence1, sentence2, adjudicated_score, flags, n_scores, mean, spread, width. worst: places of
    the pairs whose annotators differ, furthest apart first. flagged: places of the pairs that someone flagged.
    mean_apart: the distance of two scores of a pair, in [0, 1], averaged over the twos of annotators.
    reading: in plain words what α says. anchoring: a warning about suggestions seen; "" where there is none to give.
    """

    task_id: int
    levels: tuple[Level, ...]
    annotators: tuple[AnnotatorFigures, ...]
    twos: tuple[TwoFigures, ...]
    scores: np.ndarray
    items: pd.DataFrame
    alpha_interval: Figure
    alpha_nominal: Figure
    fleiss: Figure
    mean_spearman: Figure
    mean_apart: Figure
    worst: tuple[int, ...]
    flagged: tuple[int, ...]
    reading: str
    share_seen: float | None
    anchoring: str

    @property
    def names(self) -> list[str]:
        """The annotators, in the order of the rows of scores."""
        return [person.name for person in self.annotators]

    @property
    def n_pairs(self) -> int:
        """Pairs of the task."""
        return len(self.items)

    @property
    def n_scored(self) -> int:
        """Pairs with a score."""
        return int((self.items["n_scores"] > 0).sum())

    @property
    def n_shared(self) -> int:
        """Pairs with two scores or more."""
        return int((self.items["n_scores"] > 1).sum())


def agreement(workspace: Workspace, task_id: int) -> AgreementReport:
    """Everything that the scores of a task say about its annotators.

    WorkbenchError: there is no such task. Best-worst tasks have no scores of single pairs: see `best_worst_results`.
    """
    task = annotation_tasks.get_task(workspace, task_id)
    matrix = annotations.score_matrix(workspace, task_id)
    return describe(
        task_id,
        task.levels,
        list(matrix.annotators),
        np.asarray(matrix.scores, dtype=np.float64),
        matrix.items,
        _seen(matrix).sum(axis=1).tolist(),
    )


def _seen(matrix: annotations.ScoreMatrix) -> np.ndarray:
    """Which scores were given with a suggestion in view; where a pair has none, nothing can have been seen."""
    had_one = matrix.items["suggestion"].notna().to_numpy(dtype=bool)
    return np.asarray(matrix.seen, dtype=bool) & had_one & np.isfinite(matrix.scores)


def describe(
    task_id: int,
    levels: Sequence[Level],
    names: Sequence[str],
    scores: np.ndarray,
    items: pd.DataFrame,
    n_seen: Sequence[int],
) -> AgreementReport:
    """The report of a score table. scores: (annotators, pairs) in [0, 1]; items: a row per pair."""
    table = scores.reshape(len(names), len(items))
    apart = metrics.disagreement(table)
    merged, counts = metrics.merge(table)
    rows = items.reset_index(drop=True).assign(
        n_scores=counts, mean=merged, spread=apart.spread, width=apart.width
    )
    people = _people(names, table, n_seen)
    n_scores = sum(person.n_scores for person in people)
    share_seen = sum(person.n_seen for person in people) / n_scores if n_scores else None
    _, ranked = metrics.mean_pairwise_spearman(table)
    twos = _twos(names, table, levels, ranked)
    alpha = _alpha(table, "interval", len(names))
    return AgreementReport(
        task_id=task_id,
        levels=tuple(levels),
        annotators=people,
        twos=twos,
        scores=table,
        items=rows,
        alpha_interval=alpha,
        alpha_nominal=_alpha(table, "nominal", len(names)),
        fleiss=_fleiss(table, levels),
        mean_spearman=_over_twos(
            [two.spearman for two in ranked],
            table,
            _spearman_again,
            _why(table, len(names), fewest=3),
        ),
        mean_apart=_over_twos(
            [two.mean_apart for two in twos], table, _apart_again, _why(table, len(names))
        ),
        worst=tuple(place for place in apart.worst_first.tolist() if apart.width[place] > 0),
        flagged=tuple(np.flatnonzero(rows["flags"].to_numpy() > 0).tolist()),
        reading=_reading(alpha),
        share_seen=share_seen,
        anchoring=_anchoring(people, n_scores),
    )


def _people(
    names: Sequence[str], table: np.ndarray, n_seen: Sequence[int]
) -> tuple[AnnotatorFigures, ...]:
    found = []
    biases = metrics.annotator_bias_and_spread(table)
    for name, own, bias, seen in zip(names, table, biases, n_seen, strict=True):
        mine = own[~np.isnan(own)]
        found.append(
            AnnotatorFigures(
                name,
                len(mine),
                bias.n_shared,
                int(seen),
                float(mine.mean()) if len(mine) else None,
                bias.bias,
                bias.spread,
            )
        )
    return tuple(found)


def _twos(
    names: Sequence[str],
    table: np.ndarray,
    levels: Sequence[Level],
    ranked: Sequence[metrics.RankAgreement],
) -> tuple[TwoFigures, ...]:
    categories = _categories(table, levels)
    spearman = {(two.first, two.second): two.spearman for two in ranked}
    found = []
    for first, second in combinations(range(len(names)), 2):
        both = ~np.isnan(table[[first, second]]).any(axis=0)
        a, b = table[first, both], table[second, both]
        if not len(a):
            continue
        found.append(
            TwoFigures(
                names[first],
                names[second],
                len(a),
                metrics.cohen_kappa(a, b, categories=categories),
                # With two levels every distance is 1, so that weights change nothing.
                metrics.cohen_kappa(a, b, "quadratic", categories=categories)
                if len(levels) > 2
                else None,
                spearman.get((first, second)),
                float(np.mean(np.abs(a - b))),
            )
        )
    return tuple(found)


def _categories(table: np.ndarray, levels: Sequence[Level]) -> np.ndarray | None:
    """The levels of the scale; None, for those in use, where a score is not one of them."""
    known = np.array([level.score for level in levels], dtype=np.float64)
    given = table[~np.isnan(table)]
    return known if len(known) and np.isin(given, known).all() else None


def _alpha(table: np.ndarray, level: str, n_annotators: int) -> Figure:
    n_pairs = int((np.sum(~np.isnan(table), axis=0) > 1).sum())
    value = metrics.krippendorff_alpha(table, level)
    if value is None:
        return Figure(None, n_pairs, reason=_why(table, n_annotators))
    rng = np.random.default_rng(SEED)
    interval = metrics.krippendorff_interval(table, level, resamples=RESAMPLES, rng=rng)
    return Figure(value, n_pairs, interval)


def _fleiss(table: np.ndarray, levels: Sequence[Level]) -> Figure:
    n_annotators = len(table)
    complete = table[:, ~np.isnan(table).any(axis=0)] if n_annotators > 1 else table[:, :0]
    n_pairs = complete.shape[1]
    if not n_pairs:
        reason = _why(table, n_annotators) if n_annotators < 2 else ""
        every = f"all {n_annotators} annotators" if n_annotators > 2 else "both annotators"
        return Figure(None, 0, reason=reason or f"No pair has scores of {every}.")
    _, counts = metrics.category_counts(complete, _categories(complete, levels))
    value = metrics.fleiss_kappa(counts)
    if value is None:
        return Figure(None, n_pairs, reason=_SAME)
    patterns, times = metrics.distinct_pairs(np.sort(complete, axis=0))
    _, counts = metrics.category_counts(patterns, _categories(complete, levels))
    again = [metrics.weighted_fleiss_kappa(drawn, counts) for drawn in _drawn(times)]
    return Figure(value, n_pairs, interval(np.concatenate(again)))


Replicates = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]
"""Two people's scores, and how often each pattern was drawn (resamples, patterns) -> a value per resample."""


def _over_twos(
    each: Sequence[float | None], table: np.ndarray, replicates: Replicates, reason: str
) -> Figure:
    """The mean of a measure over the twos of annotators, with the percentile interval of the bootstrap over pairs.

    each: its value for each two; None does not enter the mean. Resampled are the pairs with two scores or more; those
    that everybody scored alike are one pattern.
    """
    several = table[:, np.sum(~np.isnan(table), axis=0) > 1]
    n_pairs, twos = several.shape[1], list(combinations(range(len(table)), 2))
    known = [one for one in each if one is not None]
    if not known:
        return Figure(None, n_pairs, reason=reason)
    patterns, times = metrics.distinct_pairs(several)
    again = [
        _mean_known([_of_two(patterns[[*two]], drawn, replicates) for two in twos])
        for drawn in _drawn(times, n_uses=len(twos))
    ]
    return Figure(float(np.mean(known)), n_pairs, interval(np.concatenate(again)))


def _drawn(times: np.ndarray, n_uses: int = 1) -> Iterator[np.ndarray]:
    """Resamples of pairs, some at a time: how often each pattern is drawn, (resamples, patterns).

    times: how many pairs were scored in each way, of as many as are drawn. n_uses: passes over each resample.
    """
    rng = np.random.default_rng(SEED)
    n_pairs, n_patterns = int(times.sum()), len(times)
    rows, left = max(CELLS // n_patterns, 1), _resamples(n_patterns * n_uses)
    while left > 0:
        yield rng.multinomial(n_pairs, times / n_pairs, size=min(rows, left)).astype(np.float64)
        left -= rows


def _of_two(scores: np.ndarray, times: np.ndarray, replicates: Replicates) -> np.ndarray:
    both = ~np.isnan(scores).any(axis=0)
    if not both.any():
        return np.full(len(times), np.nan)
    return replicates(scores[0, both], scores[1, both], times[:, both])


def _mean_known(values: Sequence[np.ndarray]) -> np.ndarray:
    """The mean per resample over the twos for which it is defined."""
    table = np.array(values)
    n_known = np.isfinite(table).sum(axis=0)
    sums = np.nansum(table, axis=0)
    return np.divide(sums, n_known, out=np.full(len(sums), np.nan), where=n_known > 0)


def _spearman_again(first: np.ndarray, second: np.ndarray, times: np.ndarray) -> np.ndarray:
    # As of the pairs themselves: fewer than three tell nothing of an order.
    enough = times.sum(axis=1) >= 3
    return np.where(enough, weighted_spearman(times, first, second), np.nan)


def _apart_again(first: np.ndarray, second: np.ndarray, times: np.ndarray) -> np.ndarray:
    n = times.sum(axis=1)
    sums = times @ np.abs(first - second)
    return np.divide(sums, n, out=np.full(len(n), np.nan), where=n > 0)


def _resamples(cells: int) -> int:
    return int(np.clip(WORK // max(cells, 1), FEWEST_RESAMPLES, RESAMPLES))


_SAME = "All scores that can be compared are the same: without variation, agreement is undefined."


def _why(table: np.ndarray, n_annotators: int, fewest: int = 1) -> str:
    """Why a measure of agreement is undefined. fewest: common pairs that it needs."""
    if n_annotators < 2:
        return (
            "Only one person has scored. Agreement needs a second annotator."
            if n_annotators
            else ("Nobody has scored a pair yet.")
        )
    shared = int((np.sum(~np.isnan(table), axis=0) > 1).sum())
    if not shared:
        return "No pair has scores of two annotators."
    if shared < fewest:
        has = "pair has" if shared == 1 else "pairs have"
        return f"Only {shared} {has} scores of two annotators; {fewest} are needed."
    return _SAME if fewest == 1 else "The scores that can be compared do not vary."


def _reading(alpha: Figure) -> str:
    """What α says, in words."""
    value = alpha.value
    if value is None:
        return alpha.reason
    told = (
        "The annotators agree well enough to rely on single scores"
        if value >= RELIABLE
        else "Agreement is tentative: good enough for cautious conclusions, and for averages of several scores"
        if value >= TENTATIVE
        else "Agreement is too low to rely on single scores. Discuss the worst pairs, sharpen the guideline, and score "
        "a fresh sample"
        if value > 0
        else "The annotators agree no better than by chance. Check that they read the scale the same way"
    )
    doubt = ""
    if alpha.interval and alpha.interval[0] < TENTATIVE <= value:
        doubt = f" The interval reaches below {TENTATIVE}, so more pairs may change this."
    return (
        f"{told} (interval α {value:.2f}; Krippendorff asks for {RELIABLE}, and takes {TENTATIVE} as the lowest for "
        f"tentative conclusions).{doubt}"
    )


def _anchoring(people: Sequence[AnnotatorFigures], n_scores: int) -> str:
    """A warning when scores were given with the model's suggestion in view."""
    n_seen = sum(person.n_seen for person in people)
    if not n_seen:
        return ""
    who = ", ".join(f"{person.name} {person.n_seen:,}" for person in people if person.n_seen)
    return (
        f"{n_seen:,} of {n_scores:,} scores ({n_seen / n_scores:.0%}) were given after the model's suggestion was seen "
        f"({who}). Such scores lean towards the model, and towards each other: agreement may look better than it is."
    )
