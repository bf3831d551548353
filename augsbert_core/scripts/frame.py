"""The frame of a training script: what it says of itself, its imports, constants and main function."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from string import Template
from typing import Any

from augsbert_core.scripts import parts


@dataclass(frozen=True)
class ScriptFacts:
    """What both kinds of script are told.

    base: a name on the hub, None for a folder, which the user of the script must name. scale: of the scores in
    the files. metric: "spearman" or "f1". versions: of the libraries that the run used. notes: further things
    that the script does not reproduce.
    """

    run_id: int
    base: str | None
    layers: int | None
    max_length: int
    scale: tuple[float, float]
    metric: str
    seed: int
    gold_limit: int | None
    silver_weight: float
    patience: int
    versions: Mapping[str, str]
    notes: tuple[str, ...] = ()


def script(
    facts: ScriptFacts, kind: str, body: str, read: Mapping[str, bool], constants: Mapping[str, Any]
) -> str:
    """A whole script. body: its functions. read: whether each further file is read. constants: at its top."""
    files = "".join(f" --{name} {name}.jsonl" for name, is_read in read.items() if is_read)
    base = "" if facts.base else " --base FOLDER"
    version = facts.versions.get("sentence-transformers", "6.2.0")
    lines = [
        f'"""Train a {kind} with sentence-transformers: the recipe of run {facts.run_id} of an AugSBERT workbench.',
        "",
        f'    pip install "sentence-transformers[train]=={version}"',
        f"    python train.py{base} --gold gold.jsonl{files} --output model",
        "",
        "Files are CSV with a header, or JSON lines, with these columns:",
        *(f"- {column}" for column in _columns(read)),
        "",
        "The same recipe, not the same numbers:",
        *(f"- {note}" for note in (*_differences(facts), *facts.notes)),
        '"""',
        "",
        *_imports(body, kind),
        "",
        *(f"{name} = {literal(value)}" for name, value in constants.items()),
        "",
    ]
    return "\n".join(lines) + "\n\n" + body.lstrip("\n")


def literal(value: Any) -> str:
    """A value as Python source, texts in double quotes."""
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else repr(value)


def _columns(read: Mapping[str, bool]) -> Iterable[str]:
    yield "gold: sentence1, sentence2, score, split (train, dev, test)"
    if read.get("silver"):
        yield "silver: sentence1, sentence2, score, status"
    if read.get("nli"):
        yield "nli: premise, hypothesis, label (entailment, neutral, contradiction)"
    if read.get("triplets"):
        yield "triplets: anchor, positive, negative"


def _differences(facts: ScriptFacts) -> Iterable[str]:
    yield "batches are drawn at random; the workbench groups pairs of like length, which is faster"
    yield "dev is scored every tenth of the steps, and weights are kept by it, at slightly other steps"
    yield "on a CPU that has bfloat16 the workbench trains in it; this script does on CUDA only"
    if facts.patience:
        yield "training stops early by the same rule, but at the scores of its own dev steps"


WIDTH = 100
MODULES = ("argparse", "csv", "json", "math", "tempfile")

BI, CROSS = "sentence_transformers.sentence_transformer", "sentence_transformers.cross_encoder"
NAMES: dict[str, tuple[str, ...]] = {
    "attention_pooling": ("AttentionPooling",),
    "datasets": ("Dataset",),
    "sentence_transformers": ("SentenceTransformer", "util"),
    "sentence_transformers.base.modules": ("Dense",),
    CROSS: ("CrossEncoder", "CrossEncoderTrainer", "CrossEncoderTrainingArguments"),
    f"{CROSS}.evaluation": (
        "CrossEncoderClassificationEvaluator",
        "CrossEncoderCorrelationEvaluator",
    ),
    BI: ("SentenceTransformerTrainer", "SentenceTransformerTrainingArguments"),
    f"{BI}.evaluation": ("BinaryClassificationEvaluator", "EmbeddingSimilarityEvaluator"),
    f"{BI}.modules": ("Pooling",),
    "transformers": ("EarlyStoppingCallback", "set_seed"),
}
"""Module → the names that a script may need of it."""


def _imports(body: str, kind: str) -> list[str]:
    """The import lines for all that a script's text uses."""

    def used(names: Iterable[str]) -> list[str]:
        return [name for name in names if re.search(rf"\b{name}\b", body)]

    lines = [f"import {name}" for name in used(MODULES)]
    if counters := used(("Counter", "defaultdict")):
        lines.append(f"from collections import {', '.join(counters)}")
    lines += ["from pathlib import Path", ""]
    if "np." in body:
        lines.append("import numpy as np")
    if "torch." in body:
        lines.append("import torch")
    for module, names in NAMES.items():
        found = used(names)
        if "losses." in body and module == (CROSS if kind == "cross-encoder" else BI):
            found.append("losses")
        if found:
            line = f"from {module} import {', '.join(found)}"
            wrapped = [f"from {module} import (", *(f"    {name}," for name in found), ")"]
            lines += [line] if len(line) <= WIDTH else wrapped
    return lines


def main_function(facts: ScriptFacts, read: Mapping[str, bool], lines: Sequence[str]) -> str:
    """Read the files, do what the lines say, save the model and judge it."""
    base = (
        f"default={literal(facts.base)}"
        if facts.base
        else 'required=True, help="the model to start from"'
    )
    arguments = [
        f'parser.add_argument("--base", {base})',
        'parser.add_argument("--gold", required=True)',
    ]
    arguments += [
        f'parser.add_argument("--{name}", required=True)'
        for name, is_read in read.items()
        if is_read
    ]
    limit = 'limited(gold["train"])' if facts.gold_limit else 'gold["train"]'
    repeats = " * GOLD_REPEATS" if getattr(facts, "gold_repeats", 1) != 1 else ""
    return "\n".join(
        [
            "def main():",
            "    parser = argparse.ArgumentParser(description=__doc__.partition(\"\\n\")[0])",
            *(f"    {argument}" for argument in arguments),
            '    parser.add_argument("--output", type=Path, required=True)',
            "    args = parser.parse_args()",
            "    set_seed(SEED)",
            "    gold = read_gold(args.gold)",
            f"    gold_pairs = {limit}{repeats}",
            *(["    silver = scored(read_rows(args.silver))"] if read.get("silver") else []),
            '    dev = evaluator(gold["dev"], "dev")',
            *(f"    {line}" for line in lines),
            "    model.save_pretrained(str(args.output))",
            '    for split in ("dev", "test"):',
            "        judge = evaluator(gold[split], split)",
            "        if judge:",
            "            print(judge(model))",
            "",
            "",
            'if __name__ == "__main__":',
            "    main()",
            "",
        ]
    )  # fmt: skip


def stage_call(rows: str, dev: str, training: Mapping[str, Any]) -> list[str]:
    """The lines that train one stage. rows, dev: expressions."""
    names = (
        "epochs", "max_steps", "batch_size", "learning_rate", "schedule", "warmup_ratio", "weight_decay",
    )  # fmt: skip
    told = [f"{name}={literal(training[name])}" for name in names]
    return [
        "train(",
        f"    model, {rows}, loss, {dev},",
        f"    {', '.join(told[:4])},",
        f"    {', '.join(told[4:])},",
        ")",
    ]


def common_pieces(facts: ScriptFacts, trainer: str, arguments: str) -> list[str]:
    """The functions that every script has. trainer, arguments: classes of sentence-transformers."""
    callbacks = parts.EARLY_STOPPING if facts.patience else "[]"
    filled = Template(parts.TRAIN).substitute(
        trainer=trainer, arguments=arguments, callbacks=callbacks
    )
    return [parts.READERS, *([parts.LIMITED] if facts.gold_limit else []), filled]


def common_constants(facts: ScriptFacts) -> dict[str, Any]:
    """The constants that every script has."""
    found: dict[str, Any] = {
        "SEED": facts.seed,
        "LOW": facts.scale[0],
        "HIGH": facts.scale[1],
        "MAX_LENGTH": facts.max_length,
    }
    if facts.gold_limit:
        found["GOLD_LIMIT"] = facts.gold_limit
    if facts.silver_weight != 1.0:
        found["SILVER_WEIGHT"] = facts.silver_weight
    if facts.patience:
        found["PATIENCE"] = facts.patience
    return found


def config_argument(layers: int | None) -> str:
    """The argument that cuts a base to its first layers, with the comma before it."""
    return f', config_kwargs={{"num_hidden_layers": {layers}}}' if layers else ""


LIMIT_LENGTH = "model.max_seq_length = min(MAX_LENGTH, model.max_seq_length or MAX_LENGTH)"
