"""How a bi-encoder makes one vector of a sentence's tokens."""

import json
from pathlib import Path
from typing import Any

from augsbert_core.errors import WorkbenchError

POOLINGS = ("own", "mean", "cls", "max", "weightedmean", "attention")
"""Names of `BiEncoderOptions.pooling`. "own" keeps what the base has. "weightedmean" weighs later tokens more.
"attention" learns which tokens count (`attention_pooling`)."""

ATTENTION_POOLING = "augsbert_core.models.attention_pooling.AttentionPooling"
"""How a model folder names our own pooling."""


def set_pooling(model: Any, pooling: str) -> None:
    """Give a SentenceTransformer another pooling in place of its own; "own" changes nothing.

    A base that pools that way already keeps its module, with what it has learnt. WorkbenchError for an unknown
    name, or a model without a pooling that could be replaced.
    """
    if pooling not in POOLINGS:
        raise WorkbenchError(f"{pooling!r} is no pooling. Choose one of {', '.join(POOLINGS)}.")
    if pooling == "own":
        return
    name, present = _pooling_module(model)
    if pooling_of(present) == pooling:
        return
    # The dimension of one token: a pooling that joins several multiplies it.
    setattr(model, name, _make(pooling, int(present.embedding_dimension)).to(model.device))


def pooling_of(module: Any) -> str | tuple[str, ...]:
    """The name of a module's pooling; several when it joins several."""
    return "attention" if type(module).__name__ == "AttentionPooling" else module.pooling_mode


def assemble(folder: Path, device: str, config: dict[str, Any]) -> Any:
    """The SentenceTransformer in a folder that has our own attention pooling, without running any code of it.

    sentence-transformers would ask to trust remote code, as it knows only its own modules. config: changes to
    the transformer's configuration. The caller has made sure that all other modules are sentence-transformers'.
    """
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.util import import_from_string

    from augsbert_core.models.attention_pooling import AttentionPooling

    modules = []
    for entry in json.loads((folder / "modules.json").read_text(encoding="utf-8")):
        own = entry["type"] == ATTENTION_POOLING
        module_class: Any = AttentionPooling if own else import_from_string(entry["type"])
        modules.append(
            module_class.load(
                str(folder),
                subfolder=entry["path"],
                local_files_only=True,
                trust_remote_code=False,
                model_kwargs={"use_safetensors": True},
                processor_kwargs={},
                config_kwargs=config,
                backend="torch",
            )
        )
    told = json.loads((folder / "config_sentence_transformers.json").read_text(encoding="utf-8"))
    return SentenceTransformer(
        modules=modules,
        device=device,
        prompts=told.get("prompts"),
        default_prompt_name=told.get("default_prompt_name"),
        similarity_fn_name=told.get("similarity_fn_name"),
        local_files_only=True,
    )


def _make(pooling: str, dimension: int) -> Any:
    if pooling == "attention":
        from augsbert_core.models.attention_pooling import AttentionPooling

        return AttentionPooling(dimension)
    from sentence_transformers.sentence_transformer.modules import Pooling

    return Pooling(dimension, pooling_mode=pooling)


def _pooling_module(model: Any) -> tuple[str, Any]:
    from sentence_transformers.sentence_transformer.modules import Pooling

    from augsbert_core.models.attention_pooling import AttentionPooling

    for name, module in model.named_children():
        if isinstance(module, (Pooling, AttentionPooling)):
            return name, module
    raise WorkbenchError(
        "The base has no pooling of tokens that could be replaced. Choose pooling own, or another base."
    )
