"""Which silver pairs count as gold in a training, because people corrected or accepted them."""

from dataclasses import dataclass, replace

import numpy as np

from augsbert_core.errors import WorkbenchError
from augsbert_core.options import BiEncoderOptions, CrossEncoderOptions
from augsbert_core.pairs import ScoredPairs
from augsbert_core.steps.keep import labeler_threshold
from augsbert_core.storage import silver_sets
from augsbert_core.storage.database import Workspace
from augsbert_core.storage.promotions import Vouched, vouched_pairs
from augsbert_core.storage.records import Project

MIDDLE = 0.5
"""Without a threshold of the labeler's own, an accepted pair is a positive from here on."""

NO_CODES = np.zeros(0, dtype=np.int64)


@dataclass(frozen=True)
class Promoted:
    """Silver pairs that join gold.

    silver_codes: `pair_codes` of the pairs that must not be read as silver too. n_leaks: left out because dev or test
    gold holds the pair; n_known: because the gold training pairs do.
    """

    pairs: ScoredPairs
    silver_codes: np.ndarray
    n_corrected: int = 0
    n_accepted: int = 0
    n_leaks: int = 0
    n_known: int = 0

    def __len__(self) -> int:
        return len(self.pairs)


NOTHING = Promoted(ScoredPairs([], [], np.zeros(0)), NO_CODES)


def promoted(
    workspace: Workspace, project: Project, options: CrossEncoderOptions | BiEncoderOptions
) -> Promoted:
    """The pairs that the options ask for: of `corrections_of`, and with `promote` of the silver set; each pair once."""
    found, codes = NOTHING, NO_CODES
    for set_id in promoted_sets(options):
        one = vouched_pairs(workspace, set_id)
        new = ~np.isin(one.codes, codes)
        codes = np.concatenate([codes, one.codes[new]])
        scores = as_gold(workspace, project, set_id, one)
        rows = np.flatnonzero(new).tolist()
        pairs = ScoredPairs(
            [one.pairs.sentences1[row] for row in rows],
            [one.pairs.sentences2[row] for row in rows],
            scores[rows],
        )
        found = Promoted(
            found.pairs + pairs,
            np.concatenate([found.silver_codes, one.all_codes]),
            found.n_corrected + int((one.corrected & new).sum()),
            found.n_accepted + int((~one.corrected & new).sum()),
            found.n_leaks + one.n_leaks,
            found.n_known + one.n_known,
        )
    return found


def promoted_sets(options: CrossEncoderOptions | BiEncoderOptions) -> list[int]:
    """The silver sets whose corrections count as gold, each once."""
    sets = [getattr(options, "corrections_of", None)]
    sets += [options.silver_set_id] if options.promote else []
    return list(dict.fromkeys(one for one in sets if one is not None))


def as_gold(workspace: Workspace, project: Project, set_id: int, vouched: Vouched) -> np.ndarray:
    """Scores as the project's gold has them: in a classification, 0 or 1.

    A correction is a person's word, positive from the middle of the scale on; an accepted pair is what the labeler
    took it for, by its own threshold.
    """
    if project.task != "classification":
        return vouched.pairs.scores
    own = labeler_threshold(workspace, silver_sets.get_silver_set(workspace, set_id))
    limits = np.where(vouched.corrected, MIDDLE, MIDDLE if own is None else own)
    return (vouched.pairs.scores >= limits).astype(np.float64)


def check_corrections(workspace: Workspace, project: Project, options: CrossEncoderOptions) -> None:
    """WorkbenchError: the corrections of a set were asked for, and there are none that can be trained on."""
    set_id = options.corrections_of
    if set_id is None:
        return
    if not options.use_gold:
        raise WorkbenchError(
            f"The corrections of silver set {set_id} join the gold pairs, and this training leaves gold out. "
            "Train on gold too."
        )
    if silver_sets.get_silver_set(workspace, set_id).project_id != project.id:
        raise WorkbenchError(f"Silver set {set_id} belongs to another project.")
    found = promoted(workspace, project, replace(options, promote=False))
    if len(found):
        return
    why = ""
    if found.n_leaks or found.n_known:
        why = (
            f" that can be trained on: {found.n_known} are gold training pairs already, and dev or test gold holds "
            f"{found.n_leaks}"
        )
    raise WorkbenchError(
        f"Silver set {set_id} has no corrected or accepted pair{why}. Review some on the Silver page first."
    )
