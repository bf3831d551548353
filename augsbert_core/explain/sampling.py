"""Candidate pairs and their labels in plain sentences."""

from augsbert_core.explain.phrases import (
    apart,
    hundred,
    known,
    many,
    metric_name,
    share,
    with_article,
)
from augsbert_core.learn.paper import value

BIAS = {
    "bm25": "BM25 pairs each sentence with those that share its rarer words: similar pairs are far commoner than by "
    "chance, and paraphrases in other words are missed.",
    "semantic": "Semantic search pairs each sentence with its nearest by a bi-encoder: similar pairs are common, but only "
    "such as that bi-encoder takes for similar.",
    "bm25+semantic": "Neighbours by words and by meaning were joined: similar pairs are common, unlike ones may be too few.",
    "cosine-strata": "As many pairs as there are were taken from each band of the cosine, so that all degrees of likeness "
    "occur, as far as a bi-encoder can tell them.",
    "kde": "This is a pool of random pairs, almost all unlike; once it is labelled, Keep on the Silver page takes the part "
    "that follows gold.",
    "stratified-kde": "Pairs were drawn and labelled by bands of the cosine until they followed gold, which costs fewer "
    "labels than a random pool.",
    "random": "Random pairs are almost all unlike, so that high scores will be rare: in the paper they pulled the student "
    f"below gold alone on Spanish-STS, {value('table5', 'spanish-sts', 'random'):.2f} against "
    f"{value('table5', 'spanish-sts', 'none'):.2f} (table 5).",
}
"""Strategy → what it prefers and what it misses."""


def candidates(
    *,
    strategy: str,
    n_pairs: int,
    corpus_size: int,
    gold_left_out: int | None = None,
    is_labelled: bool = False,
) -> tuple[str, ...]:
    """What a strategy has chosen, and what its choice will do to the silver pairs."""
    possible = corpus_size * (corpus_size - 1) // 2
    said = []
    if possible >= n_pairs > 0:
        said.append(
            f"{many(corpus_size, 'sentence')} can make {many(possible, 'pair')}; {n_pairs:,} of them, "
            f"{share(n_pairs / possible)}, {'was' if n_pairs == 1 else 'were'} chosen."
        )
    else:
        said.append(f"{many(n_pairs, 'pair')} {'is' if n_pairs == 1 else 'are'} in the newest set.")
    said.append(BIAS.get(strategy, "These pairs came from a file, so nothing chose them here."))
    if gold_left_out:
        said.append(
            f"It would have chosen {many(gold_left_out, 'gold pair')} too, which people have scored already: it looks where "
            "people looked."
        )
    said.append(
        "How their scores lie beside gold, the Silver page shows."
        if is_labelled
        else "None has a score yet, so whether the choice was good is not known: a preview of a few labels shows how the "
        "scores will lie, at a small part of the cost."
    )
    return tuple(said)


def labels(
    *,
    silver_set: int,
    n_pairs: int,
    n_candidates: int,
    passes: int,
    metric: str,
    dev_score: float | None,
    gate_verdict: str = "",
    gate_difference: float | None = None,
) -> tuple[str, ...]:
    """What a labelling has made. gate_verdict, gate_difference: of its labeler, "" where it was not checked."""
    waiting = n_candidates - n_pairs
    made = "a silver pair" if n_pairs == 1 else "silver pairs"
    done = f"{many(n_pairs, 'candidate pair')} became {made} in set {silver_set}, at the cost of {many(passes, 'pass')}"
    if waiting > 0:
        done += f"; {waiting:,} still {'waits' if waiting == 1 else 'wait'} for a score"
    score = known(dev_score)
    trust = (
        f"On dev, where people's scores are known, it reached {with_article(metric_name(metric))} of {hundred(score)}."
        if score is not None
        else "No dev score says how far it can be trusted."
    )
    return (
        f"{done}.",
        f"A silver score is what the labeler believes, and may be wrong. {trust}",
        _gate(gate_verdict, known(gate_difference)),
        "Next, compare their density with gold on the Silver page, and audit some: people score them blind.",
    )


def _gate(verdict: str, difference: float | None) -> str:
    by = "" if difference is None else f", {apart(difference)} it on dev"
    return {
        "better": f"The gate found this labeler better than a gold-only student{by}: it has something to teach.",
        "not better": f"The gate found this labeler no better than a gold-only student{by}: do not expect these pairs to "
        "help.",
        "unclear": "The gate could not tell this labeler and a gold-only student apart: these pairs may teach nothing new.",
    }.get(
        verdict,
        "Whether it knows more than a gold-only student, without which silver cannot help, has not been checked: the gate "
        "on the Cross-encoder page does.",
    )
