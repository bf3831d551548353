"""Put together the script that trains a cross-encoder."""

from collections.abc import Mapping
from dataclasses import dataclass
from string import Template
from typing import Any

from augsbert_core.scripts import cross_pieces, frame, parts


@dataclass(frozen=True)
class CrossEncoderScript(frame.ScriptFacts):
    """head: "own" (the base has a trained one), "plain" (the architecture's), "pooled" or "cls"."""

    head: str = "pooled"
    hidden: int | None = None
    loss: str = "bce"
    pos_weight: bool = False
    both_orders: bool = False
    use_gold: bool = True
    use_silver: bool = False
    warm_start_pairs: int = 0
    training: Mapping[str, Any] | None = None


def cross_encoder_script(facts: CrossEncoderScript) -> str:
    """The text of train.py for a cross-encoder."""
    read = {"silver": facts.use_silver}
    body = _cross_functions(facts) + "\n\n" + frame.main_function(facts, read, _cross_lines(facts))
    return frame.script(facts, "cross-encoder", body, read, _cross_constants(facts))


def _cross_constants(facts: CrossEncoderScript) -> dict[str, Any]:
    found = frame.common_constants(facts) | {"METRIC": cross_pieces.METRICS[facts.metric]}
    if facts.warm_start_pairs:
        found["WARM_START_PAIRS"] = facts.warm_start_pairs
    return found


def _cross_functions(facts: CrossEncoderScript) -> str:
    pieces = frame.common_pieces(facts, "CrossEncoderTrainer", "CrossEncoderTrainingArguments")
    pieces.append(_head_piece(facts))
    is_ranking = facts.loss in cross_pieces.RANKING
    if facts.both_orders:
        pieces.append(parts.BOTH_ORDERS)
    if _is_weighted(facts):
        words, errors = cross_pieces.ERRORS[facts.loss]
        weighted = Template(cross_pieces.WEIGHTED_LOSS).substitute(words=words, errors=errors)
        pieces += [parts.WEIGHTED, weighted]
    if facts.pos_weight:
        pieces.append(cross_pieces.POSITIVE_WEIGHT)
    if not is_ranking or facts.warm_start_pairs:
        pieces.append(cross_pieces.SCORED_ROWS)
    if is_ranking:
        pieces.append(cross_pieces.QUERY_ROWS)
    if facts.warm_start_pairs:
        pieces.append(
            Template(cross_pieces.WARM_START).substitute(config=frame.config_argument(facts.layers))
        )
    return "\n".join([*pieces, cross_pieces.EVALUATOR[facts.metric]])


def _is_weighted(facts: CrossEncoderScript) -> bool:
    return facts.silver_weight != 1.0 and facts.use_gold and facts.use_silver


def _head_piece(facts: CrossEncoderScript) -> str:
    config = frame.config_argument(facts.layers)
    if facts.head in ("own", "plain"):
        is_own = facts.head == "own"
        lines = [] if is_own else ["num_labels=1", 'model_kwargs={"ignore_mismatched_sizes": True}']
        if facts.layers:
            lines.append(config.removeprefix(", "))
        words = "its own trained output" if is_own else "one new output"
        return Template(cross_pieces.OWN_HEAD).substitute(
            words=words, arguments="".join(f"\n        {line}," for line in lines)
        )
    hidden = f"[Dense(width, {facts.hidden}, activation_function=torch.nn.Tanh())]"
    return Template(cross_pieces.POOLED_HEAD).substitute(
        words="its pooled tokens" if facts.head == "pooled" else "the [CLS] token",
        config=config,
        pooling="encoder[1]" if facts.head == "pooled" else 'Pooling(width, pooling_mode="cls")',
        hidden=hidden if facts.hidden else "[]",
        units=str(facts.hidden or "width"),
    )


def _cross_lines(facts: CrossEncoderScript) -> list[str]:
    training = dict(facts.training or {})
    lines = ["model = new_model(args.base)", frame.LIMIT_LENGTH]
    if facts.warm_start_pairs:
        first = training | {"epochs": 1, "max_steps": None}
        rows = "scored_rows(warm_start_pairs(gold_pairs, args.base))"
        lines += [
            "# Warm start: what the base knows already",
            f"loss = {cross_pieces.LOSSES['bce']}",
        ]
        lines += frame.stage_call(rows, "None", first)
    lines.append(f"pairs = {_cross_pairs(facts)}")
    loss = cross_pieces.LOSSES[facts.loss]
    if facts.pos_weight:
        loss = "losses.BinaryCrossEntropyLoss(model, pos_weight=positive_weight(pairs))"
    if _is_weighted(facts):
        loss = "WeightedLoss(model)"
    rows = "query_rows(pairs)" if facts.loss in cross_pieces.RANKING else "scored_rows(pairs)"
    return [*lines, f"loss = {loss}", *frame.stage_call(rows, "dev", training)]


def _cross_pairs(facts: CrossEncoderScript) -> str:
    both = facts.use_gold and facts.use_silver
    pairs = "gold_pairs + silver" if both else "silver" if facts.use_silver else "gold_pairs"
    if _is_weighted(facts):
        pairs = "weighted(gold_pairs, silver)"
    return f"both_orders({pairs})" if facts.both_orders else pairs
