"""What the files of a model folder say, before anything is loaded: whether it may be used, its layers, pooling and head."""

import json
from pathlib import Path
from typing import Any

from augsbert_core.errors import WorkbenchError
from augsbert_core.models.pooling import ATTENTION_POOLING

PICKLES = ("*.bin", "*.pt", "*.pth", "*.pkl")


def check_folder(folder: Path, name: str) -> None:
    """Refuse a folder that is no model, would run its own code, or holds pickled weights only."""
    if not (folder / "config.json").is_file() and not (folder / "modules.json").is_file():
        raise WorkbenchError(
            f"{name!r} is not a model folder: it has neither config.json nor modules.json."
        )
    for module in _modules(folder):
        known = module["type"].startswith("sentence_transformers.")
        if not known and module["type"] != ATTENTION_POOLING:
            raise WorkbenchError(
                f"{name!r} needs code of its own ({module['type']}), which the workbench never runs. "
                "Choose a model made of standard modules."
            )
    for part in {folder, *(folder / module["path"] for module in _modules(folder))}:
        pickled = [file.name for pattern in PICKLES for file in part.glob(pattern)]
        pickled = [file for file in pickled if file != "training_args.bin"]
        if pickled and not any(part.glob("*.safetensors")):
            raise WorkbenchError(
                f"{name!r} has its weights as a pickle only ({pickled[0]}), which could run code when "
                "opened. Save it again with safetensors, or choose another model."
            )
    if not any(folder.rglob("*.safetensors")):
        raise WorkbenchError(
            f"{name!r} has no *.safetensors file, so there are no weights to load."
        )


def pools(folder: Path) -> bool:
    """Whether the folder holds a sentence encoder, which pools its tokens."""
    return any(module["type"].endswith(".Pooling") for module in _modules(folder))


def has_attention_pooling(folder: Path) -> bool:
    """Whether the folder holds a sentence encoder whose pooling is ours, by attention."""
    return any(module["type"] == ATTENTION_POOLING for module in _modules(folder))


def count_outputs(folder: Path) -> int:
    """How many outputs the trained pair-classification head in a folder has; 0 when there is none."""
    config = _read_json(folder / "config.json")
    for module in reversed(_modules(folder)):
        head = _read_json(folder / module["path"] / "config.json")
        if module["type"].endswith(".Dense") and head.get("module_output_name") == "scores":
            return int(head["out_features"])
    if not any("SequenceClassification" in name for name in config.get("architectures") or []):
        return 0
    # transformers leaves the two labels of its default out of config.json.
    return len(config["id2label"]) if "id2label" in config else int(config.get("num_labels", 2))


def count_hidden(folder: Path) -> int | None:
    """The units of the hidden layer in a trained pair-classification head; None when it has no such layer."""
    heads = [
        _read_json(folder / module["path"] / "config.json")
        for module in _modules(folder)
        if module["type"].endswith(".Dense")
    ]
    if len(heads) < 2 or heads[-1].get("module_output_name") != "scores":
        return None
    return int(heads[-2]["out_features"])


def count_layers(folder: Path, name: str) -> int:
    """How many transformer layers a model has, from its config.json. WorkbenchError: that does not say so."""
    config = _read_json(_transformer_folder(folder) / "config.json")
    for key in ("num_hidden_layers", "n_layers", "n_layer", "num_layers"):
        if isinstance(config.get(key), int):
            return int(config[key])
    raise WorkbenchError(f"{name!r} does not say in its config.json how many layers it has.")


def shortened_config(folder: Path, name: str, layers: int | None) -> dict[str, Any]:
    """The configuration under which only the first layers are built and loaded.

    Building a smaller model and leaving the other weights in the file works for every architecture,
    wherever it keeps its layers, and the configuration that is saved later is right by itself.
    """
    if layers is None:
        return {}
    available = count_layers(folder, name)
    if not 1 <= layers <= available:
        raise WorkbenchError(
            f"layers = {layers} is not possible: {name!r} has {available} layers. "
            f"Give a number from 1 to {available}."
        )
    config: dict[str, Any] = {"num_hidden_layers": layers}
    kinds = _read_json(_transformer_folder(folder) / "config.json").get("layer_types")
    if isinstance(kinds, list):
        config["layer_types"] = kinds[:layers]
    return config


def _transformer_folder(folder: Path) -> Path:
    """Where the transformer's config.json lies: the root, or the first module's own folder."""
    modules = _modules(folder)
    inner = folder / modules[0]["path"] if modules else folder
    return inner if (inner / "config.json").is_file() else folder


def _modules(folder: Path) -> list[dict[str, str]]:
    modules = _read_json(folder / "modules.json")
    if not isinstance(modules, list):
        return []
    return [module for module in modules if isinstance(module, dict) and "type" in module]


def _read_json(path: Path) -> Any:
    """What a JSON file holds, or an empty dict when it is missing or broken."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
