"""How many training pairs are too long for a cross-encoder, known before training."""

from collections.abc import Sequence
from functools import lru_cache

from augsbert_core.models import truncation
from augsbert_core.models.cross_encoder import truncation_warning
from augsbert_core.models.truncation import WARN_ABOVE, is_at_hand
from augsbert_core.storage.database import Workspace
from augsbert_core.storage.gold_samples import sample_texts
from augsbert_core.storage.records import Project

SAMPLED = 2000


def expect_truncation(
    workspace: Workspace, project: Project, base: str, max_length: int
) -> float | None:
    """The share of gold training pairs longer than max_length tokens of `base`, from a sample of 2,000.

    None when it cannot be known without a download, or there are no pairs. No model is loaded.
    WorkbenchError: the folder is no model, or has no tokenizer.
    """
    if max_length < 1 or not is_at_hand(base):
        return None
    pairs = sample_texts(workspace, project.id, "train", SAMPLED)
    return _share(base, max_length, tuple(pairs)) if pairs else None


@lru_cache(maxsize=32)
def _share(base: str, max_length: int, pairs: Sequence[tuple[str, str]]) -> float:
    return truncation.truncated_share(base, pairs, max_length)


def expected_warning(share: float | None, max_length: int) -> str:
    """A sentence for the user when too many pairs are too long, else ""."""
    if share is None or share <= WARN_ABOVE:
        return ""
    return truncation_warning(share, max_length)
