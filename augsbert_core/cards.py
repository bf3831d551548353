"""Cards: what a model or a silver set that leaves the workbench says about itself, as Markdown.

A card holds counts, options and scores, never a sentence, a file name or a path of whoever made it.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

PAPER = """@inproceedings{thakur-etal-2021-augmented,
  title = "Augmented {SBERT}: Data Augmentation Method for Improving Bi-Encoders for Pairwise Sentence Scoring Tasks",
  author = "Thakur, Nandan and Reimers, Nils and Daxenberger, Johannes and Gurevych, Iryna",
  booktitle = "Proceedings of the 2021 Conference of the North American Chapter of the Association for Computational
    Linguistics: Human Language Technologies",
  year = "2021",
  pages = "296--310",
  url = "https://arxiv.org/abs/2010.08240"
}"""

METRICS = {"spearman": "Spearman × 100", "f1": "F1 × 100"}

LOCAL_MODEL = "(a model from a folder of its own)"
"""What stands in a card and a recipe in place of a folder's path."""

_HUB_NAME = re.compile(r"[A-Za-z0-9][\w.-]*(/[A-Za-z0-9][\w.-]*)?")


def is_hub_name(name: str) -> bool:
    """Whether a text can be the name of a model on the hub, "owner/name" or "name"."""
    return _HUB_NAME.fullmatch(name) is not None and ".." not in name


@dataclass(frozen=True)
class Score:
    """One row of the scores table, in [-1, 1]; value None where the metric is undefined."""

    name: str
    value: float | None
    low: float | None = None
    high: float | None = None
    n_gold: int = 0
    n_silver: int = 0
    note: str = ""


@dataclass(frozen=True)
class SilverFacts:
    """How a silver set came about. options: TOML of the runs that sampled, labelled and kept it, by title.

    histogram: how many pairs have a score in each of as many equal parts of the scale. orders_known,
    spread_known: whether the gap between orders and the spread between labelers are stored. audit: what people found who
    scored some pairs blind, in one sentence, "" where nobody did.
    """

    strategy: str
    labeler: str
    n_candidates: int
    n_pairs: int
    passes: int
    scale: tuple[float, float]
    statuses: Mapping[str, int]
    histogram: Sequence[int]
    options: Mapping[str, str]
    rule: str | None = None
    versions: Mapping[str, str] | None = None
    orders_known: bool = False
    spread_known: bool = False
    audit: str = ""


@dataclass(frozen=True)
class ModelFacts:
    """What is known of a trained model.

    kind: "bi-encoder" or "cross-encoder". base: its name on the hub, None for a folder. modules: classes in the
    model that sentence-transformers does not have. recipe: TOML. other_data: further training data by name.
    scores: on the test split, this model first. baseline: position of its untrained base in scores.
    gold_changed: the project's gold pairs are not those of the training any more.
    """

    kind: str
    base: str | None
    layers: int | None
    max_length: int
    scale: tuple[float, float]
    task: str
    n_gold: int
    n_silver: int
    n_dev: int
    n_test: int
    recipe: str
    metric: str
    dev_score: float | None
    threshold: float | None
    n_steps: int
    best_step: int
    seconds: float
    device: str
    seed: int
    n_seeds: int
    data_hash: str
    versions: Mapping[str, str]
    scores: tuple[Score, ...] = ()
    baseline: int | None = None
    modules: tuple[str, ...] = ()
    silver: SilverFacts | None = None
    other_data: Mapping[str, int] | None = None
    warm_start_pairs: int = 0
    gold_changed: bool = False


def model_card(facts: ModelFacts) -> str:
    """The README.md of a model folder, with the header that the hub reads."""
    return (
        "\n\n".join(
            [
                _model_header(facts),
                f"# {_article(facts.kind).capitalize()} trained with the AugSBERT Workbench",
                _what_it_is(facts),
                "## Use",
                _use(facts),
                "## Training data",
                _data(facts),
                "## Scores",
                _scores(facts),
                "## Limits",
                _bullets(_limits(facts)),
                "## Recipe",
                f"```toml\n{facts.recipe.rstrip()}\n```",
                "## How it was made",
                _made(facts),
                "## Citation",
                f"The method (Augmented SBERT):\n\n```bibtex\n{PAPER}\n```",
            ]
        )
        + "\n"
    )


def _model_header(facts: ModelFacts) -> str:
    tags = ["sentence-transformers", "augsbert"]
    if facts.kind == "bi-encoder":
        task, tags = "sentence-similarity", [*tags, "sentence-similarity", "feature-extraction"]
    else:
        task, tags = "text-ranking", [*tags, "cross-encoder", "text-ranking"]
    lines = ["library_name: sentence-transformers", f"pipeline_tag: {task}", "tags:"]
    lines += [f"- {tag}" for tag in tags]
    if facts.base is not None:
        lines.append(f"base_model: {json.dumps(facts.base)}")
    return "\n".join(["---", *lines, "---"])


def _what_it_is(facts: ModelFacts) -> str:
    base = f"`{facts.base}`" if facts.base else "a model from a folder of its own"
    cut = f", cut to its first {facts.layers} layers," if facts.layers else ""
    low, high = facts.scale
    scale = f"The scores that people gave go from {low:g} to {high:g}; inside they are 0 to 1."
    if facts.kind == "bi-encoder":
        does = "It turns a sentence into a vector; the cosine of two vectors says how similar the sentences are."
    else:
        does = "It reads two sentences together and returns one score between 0 and 1."
    return f"Trained from {base}{cut} on pairs of sentences. {does} {scale}"


def _use(facts: ModelFacts) -> str:
    more = ", trust_remote_code=True" if facts.modules else ""
    if facts.kind == "bi-encoder":
        code = (
            "from sentence_transformers import SentenceTransformer\n\n"
            f'model = SentenceTransformer("path/to/this/folder"{more})\n'
            'first, second = model.encode(["One sentence.", "Another sentence."])\n'
            "print(model.similarity(first, second))"
        )
    else:
        code = (
            "from sentence_transformers import CrossEncoder\n\n"
            f'model = CrossEncoder("path/to/this/folder"{more})\n'
            'print(model.predict([("One sentence.", "Another sentence.")]))'
        )
    text = f"```python\n{code}\n```"
    version = facts.versions.get("sentence-transformers")
    if version:
        text += f"\n\nMade with sentence-transformers {version}; weights are safetensors only."
    if facts.modules:
        text += (
            f"\n\n**Loading needs one more module.** `modules.json` names `{'`, `'.join(facts.modules)}`, which "
            "sentence-transformers does not have and which is not in this folder. Install the workbench "
            "(`pip install augsbert-workbench`) where you load the model. `trust_remote_code=True` above lets "
            "sentence-transformers import that installed module; nothing is downloaded or run from this folder. "
            "Without the flag, the workbench loads it: `from augsbert_core.models.catalog import load_bi_encoder`, "
            '`load_bi_encoder("path/to/this/folder", "cpu")`.'
        )
    if facts.threshold is not None:
        text += f"\n\nA pair counts as positive from a score of {facts.threshold:.4f}, chosen on the dev pairs."
    return text


def _data(facts: ModelFacts) -> str:
    rows = [
        ("gold pairs (scored by people), training", facts.n_gold),
        ("silver pairs (scored by a model), training", facts.n_silver),
        *((f"{name}, training", count) for name, count in (facts.other_data or {}).items()),
        ("gold pairs, dev: chose the checkpoint", facts.n_dev),
        ("gold pairs, test", facts.n_test),
    ]
    text = _table(("Data", "Number"), [(name, f"{count:,}") for name, count in rows], right=(1,))
    if facts.silver is not None:
        text += (
            f"\n\nSilver: {facts.silver.strategy}, labelled by {facts.silver.labeler}, "
            f"{facts.silver.passes:,} labels in all."
        )
        if facts.silver.rule:
            text += f" Kept of a larger pool: {facts.silver.rule}."
    if facts.warm_start_pairs:
        text += (
            f"\n\nWarm start: before gold it learnt the cosines of its own base on "
            f"{facts.warm_start_pairs:,} unlabelled pairs."
        )
    return text + "\n\nThe sentences themselves are not part of this folder."


def _scores(facts: ModelFacts) -> str:
    name = METRICS.get(facts.metric, facts.metric)
    dev = "undefined" if facts.dev_score is None else f"{100 * facts.dev_score:.1f}"
    text = f"Dev: {name} {dev} at the chosen checkpoint (optimistic: dev chose it)."
    if not facts.scores:
        return text + " **Not measured on test pairs.**"
    rows = [
        (
            score.name,
            "undefined" if score.value is None else f"{100 * score.value:.1f}",
            ""
            if score.low is None or score.high is None
            else f"{100 * score.low:.1f} to {100 * score.high:.1f}",
            f"{score.n_gold:,}",
            f"{score.n_silver:,}",
            score.note,
        )
        for score in facts.scores
    ]
    headings = ["Model", name, "95 % interval", "Gold", "Silver", "Note"]
    if not any(score.note for score in facts.scores):
        headings, rows = headings[:-1], [row[:-1] for row in rows]  # type: ignore[misc]
    return (
        f"Test, {facts.n_test:,} pairs:\n\n{_table(headings, rows, right=(1, 2, 3, 4))}\n\n{text}"
    )


def _limits(facts: ModelFacts) -> Iterable[str]:
    if facts.n_dev:
        yield (
            f"The checkpoint (step {facts.best_step:,} of {facts.n_steps:,}) was chosen on {facts.n_dev:,} dev "
            "pairs; the dev score is therefore optimistic."
        )
    else:
        yield "There were no dev pairs, so the weights are those of the last step."
    if facts.gold_changed:
        yield "Gold pairs have changed since it was trained; the numbers of dev and test pairs are today's."
    own = facts.scores[0] if facts.scores else None
    if own is None:
        yield "It has not been measured on test pairs: nothing is known of how good it is on new ones."
    else:
        yield (
            f"The scores rest on {facts.n_test:,} test pairs. The intervals (95 % bootstrap) tell how much other "
            "test pairs of the same kind would change them, not how much another seed would."
        )
    base = facts.scores[facts.baseline] if facts.baseline is not None else None
    if own is not None and base is not None and None not in (own.value, base.value):
        if own.value <= base.value:  # type: ignore[operator]
            yield "**On these test pairs it is not better than its untrained base.**"
    elif own is not None:
        yield "Its untrained base was not measured, so what training added is unknown."
    if facts.n_seeds > 1:
        yield f"Of {facts.n_seeds} seeds the best on dev was trained to the end (seed {facts.seed})."
    else:
        yield "One training with one seed; on small data other seeds move the score by points."
    if facts.n_silver:
        yield (
            f"{facts.n_silver:,} of {facts.n_gold + facts.n_silver:,} training pairs carry the scores of a model, "
            "not of people: its mistakes were learnt too."
        )
    yield (
        "The language and the domain of the training sentences are not recorded. On other texts than such as it "
        "was trained on, measure before use."
    )
    yield f"Input is cut after {facts.max_length} tokens."


def _made(facts: ModelFacts) -> str:
    versions = ", ".join(f"{name} {version}" for name, version in sorted(facts.versions.items()))
    return _bullets(
        [
            f"{facts.n_steps:,} optimiser steps in {facts.seconds:,.0f} s on {facts.device or 'an unknown device'}",
            f"seed {facts.seed}",
            f"versions: {versions or 'unknown'}",
            f"hash of the training data: `{facts.data_hash or 'unknown'}`",
        ]
    )


def data_card(facts: SilverFacts) -> str:
    """The README.md beside an exported silver set."""
    low, high = facts.scale
    header = "---\ntask_categories:\n- sentence-similarity\ntags:\n- augsbert\n- silver\n---"
    total = max(sum(facts.histogram), 1)
    width = (high - low) / max(len(facts.histogram), 1)
    bins = [
        (f"{low + place * width:.3g} to {low + (place + 1) * width:.3g}", f"{count:,}",
         f"{100 * count / total:.1f}")
        for place, count in enumerate(facts.histogram)
    ]  # fmt: skip
    statuses = [(name, f"{count:,}") for name, count in facts.statuses.items()]
    return "\n\n".join(
        [
            header,
            "# Silver set made with the AugSBERT Workbench",
            f"{facts.n_pairs:,} pairs of sentences. A model gave the scores, not people, but where a status says so.",
            "## Columns",
            _bullets(_columns(facts)),
            "## Origin",
            _bullets(_origin(facts)),
            *(
                f"{title}:\n\n```toml\n{text.rstrip()}\n```"
                for title, text in facts.options.items()
            ),
            *(["## Audit", facts.audit] if facts.audit else []),
            "## Pairs by status",
            _table(("Status", "Pairs"), statuses, right=(1,)),
            f"## Scores, {low:g} to {high:g}",
            _table(("Score", "Pairs", "%"), bins, right=(1, 2)),
            "## Limits",
            _bullets(
                [
                    "The scores are those of a model. Where it errs, everything trained on them learns its errors.",
                    "Only pairs with the status corrected, accepted, rejected or flagged were seen by a person.",
                    "Pairs were chosen by a strategy, not at random: their scores say nothing about how similar "
                    "sentences are in general.",
                    "Rejected pairs are in the files; leave them out of training.",
                    "Language, domain and licence of the sentences are not recorded here. Check that you may share "
                    "them.",
                ]
            ),
            "## Citation",
            f"```bibtex\n{PAPER}\n```",
        ]
    ) + "\n"  # fmt: skip


def _columns(facts: SilverFacts) -> Iterable[str]:
    low, high = facts.scale
    yield "`sentence1`, `sentence2`: a pair has no direction"
    yield f"`score`: {low:g} to {high:g}; a person's correction where there is one, else the labeler's"
    yield "`scaled_score`: the same from 0 to 1, as models learn it"
    yield "`labeler_score`: the labeler's own, on the scale of `score`"
    yield "`status`: unreviewed, corrected, accepted, rejected or flagged"
    yield "`correction`: the score that a person gave, empty where none"
    yield "`rank`: place among the neighbours of the sentence that was searched with, empty where none"
    yield (
        "`sampler_score`, `bm25_rank`, `semantic_rank`: what the samplers said, where they said something"
    )
    yield "`strategy`, `labeler`: how the pairs were chosen, and what scored them"
    if facts.orders_known:
        yield "`order_gap`: |score(A, B) − score(B, A)|, from 0 to 1"
    if facts.spread_known:
        yield "`label_spread`: standard deviation between the labelers that were averaged, from 0 to 1"
    yield "`annotator`, `reviewed_at`: who decided last on the pair and when (UTC), empty where nobody did"
    yield (
        "The CSV is escaped for spreadsheets: texts that begin like a formula have a ' before them. The JSONL has "
        "every text as it is; train on that."
    )


def _origin(facts: SilverFacts) -> Iterable[str]:
    yield f"strategy: {facts.strategy}, {facts.n_candidates:,} candidates"
    yield f"labeler: {facts.labeler}, {facts.passes:,} labels"
    if facts.rule:
        yield f"kept of a larger pool: {facts.rule}"
    if facts.versions:
        yield "versions: " + ", ".join(f"{name} {is_}" for name, is_ in facts.versions.items())


def _article(kind: str) -> str:
    return f"a {kind}"


def _bullets(lines: Iterable[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)


def _table(
    headings: Sequence[str], rows: Iterable[Sequence[str]], right: Sequence[int] = ()
) -> str:
    """A Markdown table. right: columns of numbers."""
    rules = ["---:" if place in right else "---" for place in range(len(headings))]
    lines = [headings, rules, *([cell.replace("|", "\\|") for cell in row] for row in rows)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)
