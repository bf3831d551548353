"""Put together the script that trains a bi-encoder."""

from collections.abc import Mapping
from dataclasses import dataclass
from string import Template
from typing import Any

from augsbert_core.scripts import bi_pieces, frame, parts


@dataclass(frozen=True)
class BiEncoderScript(frame.ScriptFacts):
    """stages: data, loss and all that a stage is trained with, as `options.Stage` has it but without gaps."""

    stages: tuple[Mapping[str, Any], ...] = ()
    pooling: str = "own"
    gold_repeats: int = 1
    symmetric: bool = False
    hard_negatives: bool = False
    positive_from: float = 0.7
    negative_below: float = 0.3


def bi_encoder_script(facts: BiEncoderScript) -> str:
    """The text of train.py for a bi-encoder."""
    needs = {part for stage in facts.stages for part in stage["data"].split("+")}
    read = {"nli": "nli" in needs, "triplets": "triplets" in needs, "silver": "silver" in needs}
    body = _bi_functions(facts) + "\n\n" + frame.main_function(facts, read, _bi_lines(facts))
    return frame.script(facts, "bi-encoder", body, read, _bi_constants(facts))


def _bi_constants(facts: BiEncoderScript) -> dict[str, Any]:
    found = frame.common_constants(facts) | {"METRIC": bi_pieces.METRICS[facts.metric]}
    if facts.pooling not in ("own", "attention"):
        found["POOLING"] = facts.pooling
    if facts.gold_repeats != 1:
        found["GOLD_REPEATS"] = facts.gold_repeats
    if any(stage["loss"] in ("mnrl", "triplet") for stage in facts.stages):
        found |= {"POSITIVE_FROM": facts.positive_from, "NEGATIVE_BELOW": facts.negative_below}
    return found


def _bi_functions(facts: BiEncoderScript) -> str:
    pieces = frame.common_pieces(
        facts, "SentenceTransformerTrainer", "SentenceTransformerTrainingArguments"
    )
    calls = " ".join(_rows(facts, stage) for stage in facts.stages)
    if facts.pooling != "own":
        pieces.append(_pooling_piece(facts.pooling))
    for sign, piece in {
        "both_orders(": parts.BOTH_ORDERS,
        "weighted(": parts.WEIGHTED + "\n" + bi_pieces.WEIGHTED_COSINE,
        "scored_rows(": bi_pieces.SCORED_ROWS,
        "anchor_rows(": bi_pieces.POSITIVE_ROWS,
        "hard_rows(": bi_pieces.HARD_ROWS,
        "nli_pairs(": bi_pieces.NLI_PAIRS,
        "nli_classes(": bi_pieces.NLI_CLASSES,
        "triplet_rows(": bi_pieces.TRIPLET_ROWS,
    }.items():
        if sign in calls:
            pieces.append(piece)
    return "\n".join([*pieces, bi_pieces.EVALUATOR[facts.metric]])


def _pooling_piece(pooling: str) -> str:
    if pooling == "attention":
        made = "AttentionPooling(module.embedding_dimension)"
        text = bi_pieces.NEW_POOLING.replace(" and module.pooling_mode != POOLING", "")
        return Template(text.replace("by POOLING", "by attention")).substitute(made=made)
    made = "Pooling(module.embedding_dimension, pooling_mode=POOLING)"
    return Template(bi_pieces.NEW_POOLING).substitute(made=made)


def _rows(facts: BiEncoderScript, stage: Mapping[str, Any]) -> str:
    return bi_pieces.rows_expression(
        stage, symmetric=facts.symmetric, weight=facts.silver_weight, hard=facts.hard_negatives
    )


def _bi_lines(facts: BiEncoderScript) -> list[str]:
    lines = [
        f"model = SentenceTransformer(args.base{frame.config_argument(facts.layers)})",
        frame.LIMIT_LENGTH,
    ]
    if facts.pooling != "own":
        lines.append("set_pooling(model)")
    for number, stage in enumerate(facts.stages, 1):
        loss = bi_pieces.LOSSES[stage["loss"]].format(scale=stage["scale"])
        if bi_pieces.is_weighted(stage, facts.silver_weight):
            loss = "WeightedCosineLoss(model)"
        lines += [f"# Stage {number} of {len(facts.stages)}: {stage['data']}", f"loss = {loss}"]
        lines += frame.stage_call(_rows(facts, stage), "dev", stage)
    return lines
