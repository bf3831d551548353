"""Choose candidate pairs with one of the samplers."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from augsbert_core.errors import WorkbenchError
from augsbert_core.models.search import bound_search, embed_texts
from augsbert_core.options import SampleOptions, StratifiedOptions
from augsbert_core.pairs import pair_codes
from augsbert_core.progress import Report, ShouldStop
from augsbert_core.sampling import COSINE_SCORES, HAS_TOP_K, NEEDS_ENCODER, SAMPLERS, Corpus
from augsbert_core.steps.context import StepContext
from augsbert_core.steps.models import run_model
from augsbert_core.storage import candidates, gold, sentences, silver_sets
from augsbert_core.storage.database import Workspace
from augsbert_core.storage.records import Project


def sampling_corpus(
    workspace: Workspace, project_id: int, options: SampleOptions | StratifiedOptions
) -> Corpus:
    """What a project's samplers may pair: training and, if asked, unlabelled sentences.

    Excluded: gold pairs of any split, and the pairs of the silver sets that the options name.
    """
    ids, texts = sentences.sampling_corpus(
        workspace, project_id, use_unlabelled=options.use_unlabelled
    )
    gold_codes = pair_codes(*gold.gold_pair_ids(workspace, project_id))
    known = silver_sets.silver_pair_codes(workspace, options.exclude_silver_sets)
    return Corpus(
        texts=texts, ids=ids, excluded=np.concatenate([gold_codes, known]), gold=gold_codes
    )


def needs_encoder(options: SampleOptions) -> bool:
    """Whether the strategy embeds the sentences, which takes a device."""
    return options.strategy in NEEDS_ENCODER


def check_sampling(workspace: Workspace, project: Project, options: SampleOptions) -> None:
    """WorkbenchError: no such strategy or encoder, or fewer than two sentences to pair."""
    if options.strategy not in SAMPLERS:
        raise WorkbenchError(
            f"There is no sampling strategy {options.strategy!r}. Choose one of "
            f"{', '.join(sorted(SAMPLERS))}."
        )
    if needs_encoder(options):
        run_model(workspace, project, options.encoder, "train-bi-encoder")
    check_corpus(workspace, project, options)


def check_corpus(
    workspace: Workspace,
    project: Project,
    options: SampleOptions | StratifiedOptions,
    *,
    excluded_may_be_gone: bool = False,
) -> None:
    """WorkbenchError: fewer than two sentences to pair, or a silver set to exclude is not there.

    excluded_may_be_gone: such a set that does not exist (any more) is passed over.
    """
    for set_id in options.exclude_silver_sets:
        try:
            found = silver_sets.get_silver_set(workspace, set_id)
        except WorkbenchError:
            if excluded_may_be_gone:
                continue
            raise WorkbenchError(
                f"Silver set {set_id}, whose pairs should be left out, does not exist."
            ) from None
        if found.project_id != project.id:
            raise WorkbenchError(f"Silver set {set_id} belongs to another project.")
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
        corpus = sampling_corpus(context.workspace, context.project.id, options)
        if needs_encoder(options):
            corpus = with_search(context, corpus, options)
        chosen = SAMPLERS[options.strategy](
            corpus, options, report=context.report, should_stop=context.should_stop
        )
        if not len(chosen):
            raise WorkbenchError(
                "No candidate pair was found. " + (" ".join(chosen.notices) or "Raise top-k.")
            )
        context.report(0.95, f"Storing {len(chosen):,} candidate pairs")
        candidates.add_candidate_set(
            context.workspace,
            context.project.id,
            context.run.id,
            strategy=options.strategy,
            corpus_size=len(corpus),
            first=chosen.first,
            second=chosen.second,
            # The order of a draw is no rank, and the score of 0 of a random one no score.
            rank=chosen.rank if options.strategy in HAS_TOP_K else None,
            sampler_score=(
                chosen.score if options.strategy in {*HAS_TOP_K, *COSINE_SCORES} else None
            ),
            bm25_rank=chosen.bm25_rank,
            semantic_rank=chosen.semantic_rank,
            gold_left_out=chosen.gold_left_out,
            notices=chosen.notices,
        )
        existing = candidates.candidate_set_of_run(context.workspace, context.run.id)
    assert existing is not None  # noqa: S101 (for the type checker: it was stored just above)
    return {
        "candidate_set_id": existing.id,
        "n_candidates": existing.n_pairs,
        "corpus_size": existing.corpus_size,
        "gold_left_out": existing.gold_left_out,
        "notices": existing.notices,
    }


def with_search(context: StepContext, corpus: Corpus, options: SampleOptions) -> Corpus:
    """The corpus with the top-k search and the embeddings of the bi-encoder that the options name."""
    trained = run_model(context.workspace, context.project, options.encoder, "train-bi-encoder")
    location = trained or options.encoder

    def embed(texts: Sequence[str], report: Report, should_stop: ShouldStop) -> np.ndarray:
        return embed_texts(location, texts, context.device, report=report, should_stop=should_stop)

    search = bound_search(location, context.device, options.search)
    return replace(corpus, search=search, embed=embed)
