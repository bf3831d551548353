"""What the metrics of a run look like, as the steps write them: key by key, for archives that anybody can have made.

A key that is not listed holds any JSON of reasonable size. What is undefined is null within a list; elsewhere the store
leaves it out.
"""

from collections.abc import Mapping
from typing import Any

from augsbert_core.pairs import SPLITS
from augsbert_core.storage.archive_shapes import (
    Shape,
    is_amount,
    is_count,
    is_flag,
    is_json,
    is_number,
    is_pace,
    is_positive,
    is_score,
    is_text,
    is_whole,
    list_of,
    map_of,
    maybe,
    one_of,
    record_of,
    same_lengths,
    tuple_of,
)

is_split = one_of(*SPLITS)
is_metric = one_of("spearman", "f1")
texts = list_of(is_text)
numbers = list_of(is_number)

COUNTS = (
    "n_steps", "n_gold", "n_silver", "passes", "n_rows", "best_step", "n_nli", "n_triplets", "n_negatives",
    "n_dev_negatives", "warm_start_pairs", "n_scored", "n_reused", "n_passes", "passes_per_pair", "n_copies", "n_left_out",
    "n_candidates", "n_whole", "corpus_size", "gold_left_out", "n_kept", "n_pool", "least_passes", "rounds",
    "n_queries", "n_positives", "n_dropped", "n_sentences", "n_reranked", "n_texts", "n_classes", "folds", "n_pairs",
    "n_previewed", "n_runs", "n_tuples", "n_corrections", "n_leaks", "n_carried", "rows_read", "pairs_kept", "rejected",
)  # fmt: skip
IDS = (
    "run_id", "silver_set_id", "pool_set_id", "candidate_set_id", "whole_set_id", "reproduced_run_id", "new_run_id",
)  # fmt: skip
SCORES = (
    "dev_score", "expected_fraction", "unjudged", "high_share", "truncated_share", "c", "score",
)  # fmt: skip
NUMBERS = ("threshold", "kl", "expected_kl", "pool_kl", "pos_weight", "measurements")
TEXTS = (
    "device", "gold_hash", "data_hash", "labeler", "calibration_hash", "recommended", "verdict", "sentence", "file",
    "kind", "negatives", "negatives_note", "estimate_sentence",
)  # fmt: skip

LABELER_FACTS = record_of(
    {"location": is_text, "n_outputs": is_count, "activation": is_text, "n_parameters": is_count},
    {"max_length": is_count, "n_tokens": is_count},
)
SPREAD = record_of({"min": is_number, "median": is_number, "max": is_number})
LEAK = record_of(
    {"earlier": is_split, "later": is_split, "pairs": is_count, "sentences": is_count, "rows_by_pair": is_count,
     "rows_by_sentence": is_count}
)  # fmt: skip
LEAK_KEYS = {"earlier", "later", "pairs", "sentences", "rows_by_pair", "rows_by_sentence"}
N_LENGTHS, N_SCORES = 12, 20
OVERVIEW = record_of(
    {"lengths": list_of(is_count, N_LENGTHS, N_LENGTHS)},
    {"sentences": is_count, "longest": is_count, "repeated": list_of(tuple_of(is_text, is_count)),
     "scores": list_of(is_count, N_SCORES, N_SCORES)},
)  # fmt: skip
JOINT = record_of(
    {},
    {
        "collapsed": is_count, "left_out": is_count, "leaked": is_count, "repeats": map_of(is_count),
        "leaks": list_of(lambda one: LEAK(one) and one.keys() == LEAK_KEYS), "overview": OVERVIEW,
    },
)  # fmt: skip

COMMON: dict[str, Shape] = {
    **dict.fromkeys(COUNTS, is_count),
    **dict.fromkeys(IDS, is_positive),
    **dict.fromkeys(SCORES, is_score),
    **dict.fromkeys(NUMBERS, is_number),
    **dict.fromkeys(TEXTS, is_text),
    "preset": maybe(is_text),
    "metric": is_metric,
    "split": is_split,
    "chosen_seed": is_whole,
    "seconds": is_amount,
    "examples_per_second": is_amount,
    "pairs_per_second": is_pace,
    "both_orders": is_flag,
    "notes": texts,
    "notices": texts,
    "import_run_ids": list_of(is_positive),
    "high_share_interval": tuple_of(is_score, is_score),
    "dev_curve": list_of(tuple_of(is_count, is_score)),
    "scores": list_of(is_score),
    "bin_edges": numbers,
    "pairs_per_bin": list_of(is_count),
    "stages": list_of(
        record_of({"n_steps": is_count}, {"data": is_text, "loss": is_text, "n_rows": is_count, "dev_score": is_score})
    ),
    "seed_trials": list_of(record_of({"seed": is_whole}, {"dev_score": is_score})),
    "calibration": list_of(record_of({"member": is_text, "split": is_split, "n_pairs": is_count})),
    "facts": list_of(LABELER_FACTS),
    "gold": record_of({"n_pairs": is_count, "raw": SPREAD, "score": SPREAD}, {"spearman": is_score}),
    "files": texts,
    "splits": map_of(is_count),
    "joint": JOINT,
}  # fmt: skip
"""Key → shape, of whatever step."""

# --- steps with tables of their own ------------------------------------------------------------------

FACTS = ("n_gold", "n_silver", "passes", "n_steps", "seconds")
BATCH_SCORES = ("dev_score", "test_score", "auc05")
BATCH_ROW = record_of(
    {
        "group": is_text, "key": is_text, "run_id": maybe(is_positive), "seed": maybe(is_whole),
        **dict.fromkeys((*BATCH_SCORES, "test_low", "test_high"), maybe(is_score)), "metric": maybe(is_metric),
        **dict.fromkeys(FACTS, maybe(is_amount)), "differs": map_of(is_json),
    }
)  # fmt: skip
BATCH_GROUP = record_of(
    {
        "group": is_text, "n": is_positive, "metric": maybe(is_metric),
        **dict.fromkeys(BATCH_SCORES, maybe(is_score)),
        **{f"{name}_sd": maybe(is_score) for name in BATCH_SCORES},
        **dict.fromkeys(FACTS, maybe(is_amount)),
    }
)  # fmt: skip
SUMMARY = record_of(
    {"kind": is_text, "title": is_text, "n_planned": is_count, "n_done": is_count, "rows": list_of(BATCH_ROW),
     "groups": list_of(BATCH_GROUP), "notes": texts},
    {"best": is_text},
)  # fmt: skip
ESTIMATE = record_of({}, {**dict.fromkeys(("n_pairs", "n_steps"), is_count), "seconds": is_amount})
OUTCOME = record_of(
    {"sentence": is_text, "n_silver": is_count, "estimate_sentence": is_text},
    {"helps": is_flag, "difference": is_score, "low": is_score, "high": is_score, "metric": is_metric,
     "split": is_split, "n_pairs": is_count, "student_score": is_score, "gold_only_score": is_score,
     "student_run_id": is_positive, "gold_only_run_id": is_positive, "labeler": is_text, "estimate": ESTIMATE},
)  # fmt: skip
MEASURED = record_of({"target": is_text}, {"value": is_score, "low": is_score, "high": is_score})
GATE_ROW = record_of(
    {"labeler": is_text, "value": maybe(is_score)},
    {**dict.fromkeys(("low", "high", "difference", "difference_low", "difference_high"), is_score),
     "name": is_text, "kind": is_text, "passes_per_pair": is_count, "verdict": is_text, "sentence": is_text},
)  # fmt: skip
RANK_ROW = record_of(
    {"target": is_text, "kind": is_text},
    dict.fromkeys(
        ("ndcg", "ndcg_low", "ndcg_high", "mrr", "mrr_low", "mrr_high", "recall", "difference", "difference_low",
         "difference_high", "p"), is_score,
    ) | {"seconds": is_amount},
)  # fmt: skip
TRANSFER_ROW = record_of(
    {"name": is_text, "accuracy": is_score, "sd": maybe(is_score), "majority": is_score, "n_test": is_count},
    {"target": is_text, "n_train": is_count, "strength": is_number},
)  # fmt: skip

DETAILS = record_of(
    {},
    {
        "dev_curve": lambda curve: record_of(dict.fromkeys(("threshold", "f1", "precision", "recall"), numbers))(curve)
        and same_lengths(curve, ("threshold", "f1", "precision", "recall")),
    },
)  # fmt: skip

AGREEMENT = (
    "spearman", "spearman_low", "spearman_high", "kendall", "kendall_low", "kendall_high",
)  # fmt: skip


def _is_summary(value: Any) -> bool:
    """A summary whose groups all have rows."""
    if not SUMMARY(value):
        return False
    return {group["group"] for group in value["groups"]} <= {row["group"] for row in value["rows"]}


NEEDED: dict[str, dict[str, Shape]] = {
    "gate": {
        "split": is_split, "metric": is_metric, "n_pairs": is_positive, "rows": list_of(GATE_ROW, 1),
        "verdict": is_text, "sentence": is_text, "recommended": is_text,
    },
    "rerank": {"rows": list_of(RANK_ROW, 1), "n_queries": is_count},
    "transfer": {"file": is_text, "n_texts": is_count, "rows": list_of(TRANSFER_ROW, 1)},
    "seed-study": {
        "seeds": list_of(is_whole, 1), "fractions": list_of(is_score, 1), "dev": list_of(list_of(is_score, 1), 1),
        "metric": is_metric, "n_steps": is_count, "seconds": is_amount,
        **dict.fromkeys(AGREEMENT, list_of(maybe(is_score))), "regret": list_of(is_score),
    },
    "reproduce": {"reproduced_run_id": is_positive, "new_run_id": is_positive, "sentence": is_text},
    "train-bi-encoder": {"n_steps": is_count},
}  # fmt: skip
"""What a run that is done always has, because a page takes it for granted."""

KNOWN: dict[str, dict[str, Shape]] = {
    "gate": {"student": MEASURED, "untrained": MEASURED},
    "batch": {"summary": _is_summary, "outcome": OUTCOME},
    "evaluate": {
        "rows": list_of(
            record_of({"target": is_text}, {"value": is_score, "low": is_score, "high": is_score})
        )
    },
    # The fields of a comparison that only a sentence was made of.
    "reproduce": {"score": is_number},
}


def wrong_metric(step: str, metrics: Mapping[str, Any], *, is_done: bool) -> str | None:
    """The first key that is not what the step writes, None when all are."""
    if not is_json(metrics):
        return next((key for key, value in metrics.items() if not is_json(value)), "metrics")
    needed = NEEDED.get(step, {})
    if is_done and (missing := next((key for key in needed if key not in metrics), None)):
        return missing
    shapes = COMMON | KNOWN.get(step, {})
    for key, value in metrics.items():
        if not (needed.get(key) or shapes.get(key, is_json))(value):
            return key
    if step == "seed-study" and is_done:
        return _wrong_study(metrics)
    return None


def _wrong_study(found: Mapping[str, Any]) -> str | None:
    """A seed study whose lists do not go together."""
    n_points = len(found["fractions"])
    if len(found["dev"]) != len(found["seeds"]):
        return "dev"
    if any(len(row) != n_points for row in found["dev"]):
        return "dev"
    return next((name for name in (*AGREEMENT, "regret") if len(found[name]) != n_points), None)


def are_details(value: Mapping[str, Any]) -> bool:
    """Whether these are the further figures of an evaluation: numbers, what is undefined as null, and a curve."""
    figures = (item for name, item in value.items() if name != "dev_curve")
    return DETAILS(value) and all(item is None or is_number(item) for item in figures)
