"""Choose candidate pairs with one of the samplers."""

from typing import Any

import numpy as np

from augsbert_core.errors import WorkbenchError
from augsbert_core.options import SampleOptions
from augsbert_core.pairs import pair_codes
from augsbert_core.sampling import SAMPLERS, Corpus
from augsbert_core.steps.context import StepContext
from augsbert_core.storage import candidates, gold, sentences
from augsbert_core.storage.database import Workspace
from augsbert_core.storage.records import Project


def sampling_corpus(workspace: Workspace, project_id: int, *, use_unlabelled: bool) -> Corpus:
    """What a project's samplers may pair: training and unlabelled sentences, no gold pair of any split."""
    ids, texts = sentences.sampling_corpus(workspace, project_id, use_unlabelled=use_unlabelled)
    first, second = gold.gold_pair_ids(workspace, project_id)
    return Corpus(texts=texts, ids=ids, excluded=pair_codes(first, second))


def check_sampling(workspace: Workspace, project: Project, options: SampleOptions) -> None:
    """WorkbenchError: no such strategy, or fewer than two sentences to pair."""
    if options.strategy not in SAMPLERS:
        raise WorkbenchError(
            f"There is no sampling strategy {options.strategy!r}. Choose one of "
            f"{', '.join(sorted(SAMPLERS))}."
        )
    if sentences.corpus_size(workspace, project.id, use_unlabelled=options.use_unlabelled) < 2:
        raise WorkbenchError(
            "There are fewer than two sentences to sample from. Import gold training pairs, or "
            "unlabelled sentences and sample from those too (--unlabelled)."
        )


def sample(context: StepContext, options: SampleOptions) -> dict[str, Any]:
    """Sample candidates and store them as one set; done twice for one run, the first set stands."""
    existing = candidates.candidate_set_of_run(context.workspace, context.run.id)
    if existing is None:
        check_sampling(context.workspace, context.project, options)
        context.report(0.0, "Reading the corpus")
        corpus = sampling_corpus(
            context.workspace, context.project.id, use_unlabelled=options.use_unlabelled
        )
        chosen = SAMPLERS[options.strategy](
            corpus, options, report=context.report, should_stop=context.should_stop
        )
        if not len(chosen.first):
            raise WorkbenchError(
                "No candidate pair was found. " + (" ".join(chosen.notices) or "Raise top-k.")
            )
        context.report(0.95, f"Storing {len(chosen.first):,} candidate pairs")
        candidates.add_candidate_set(
            context.workspace,
            context.project.id,
            context.run.id,
            strategy=options.strategy,
            corpus_size=len(corpus.texts),
            first=np.asarray(chosen.first),
            second=np.asarray(chosen.second),
            rank=chosen.rank,
            sampler_score=chosen.score,
            notices=chosen.notices,
        )
        existing = candidates.candidate_set_of_run(context.workspace, context.run.id)
    assert existing is not None  # noqa: S101 (for the type checker: it was stored just above)
    return {
        "candidate_set_id": existing.id,
        "n_candidates": existing.n_pairs,
        "corpus_size": existing.corpus_size,
        "notices": existing.notices,
    }
