"""Commands that choose candidate pairs, and keep some of the labelled ones."""

from typing import Annotated, Any, Literal

import typer

from augsbert_core.cli.console import (
    AsJson,
    Device,
    ProjectName,
    Seed,
    open_home,
    run_step,
    show,
    table,
)
from augsbert_core.cli.data import named
from augsbert_core.cli.labelling import BatchSize, Labeler, labeler_name, model_name
from augsbert_core.options import KeepOptions, SampleOptions, StratifiedOptions

SAMPLE = SampleOptions()
STRATIFIED = StratifiedOptions(labeler="")
KEEP = KeepOptions(silver_set_id=0)
SMALLEST_C = 0.001

Encoder = Annotated[
    str,
    typer.Option(
        metavar="RUN|MODEL",
        help="semantic, cosine-strata: a bi-encoder run's number, or a model's name or folder.",
    ),
]
Unlabelled = Annotated[
    bool, typer.Option("--unlabelled", help="Sample from unlabelled sentences too.")
]
ExcludeSilver = Annotated[
    list[int] | None,
    typer.Option(
        metavar="ID", min=1, max=2**62, help="Choose no pair of this silver set; may be repeated."
    ),
]


def register(app: typer.Typer) -> None:
    """Add these commands to the app."""
    app.command()(sample)
    app.command("sample-stratified")(sample_stratified)
    app.command()(keep)
    app.command()(strategies)
    app.command("top-k")(top_k)


def sample(
    context: typer.Context,
    project: ProjectName,
    strategy: Annotated[
        str, typer.Option(help="bm25, semantic, bm25+semantic, cosine-strata, kde or random.")
    ] = SAMPLE.strategy,
    top_k: Annotated[
        int, typer.Option(min=1, help="bm25, semantic: partners per sentence.")
    ] = SAMPLE.top_k,
    variant: Annotated[
        Literal["okapi", "lucene"], typer.Option(help="bm25: how rare words are weighted.")
    ] = "okapi",
    k1: Annotated[
        float | None,
        typer.Option(min=0.0, max=10.0, help="bm25: 0 to 10.", show_default="the variant's"),
    ] = None,
    b: Annotated[
        float | None,
        typer.Option(min=0.0, max=1.0, help="bm25: 0 to 1.", show_default="the variant's"),
    ] = None,
    stop_words: Annotated[
        Literal["none", "english", "frequent"],
        typer.Option(help="bm25: words not to count; frequent: in over a tenth of the sentences."),
    ] = "none",
    encoder: Encoder = SAMPLE.encoder,
    search: Annotated[
        Literal["auto", "exact", "ann"],
        typer.Option(help="semantic: auto is exact up to 200,000 sentences, ann is FAISS."),
    ] = "auto",
    n_pairs: Annotated[
        int | None, typer.Option(min=1, help="random, cosine-strata, kde: how many pairs to draw.")
    ] = None,
    unlabelled: Unlabelled = SAMPLE.use_unlabelled,
    exclude_silver: ExcludeSilver = None,
    seed: Seed = SAMPLE.seed,
    device: Device = SAMPLE.device,
    as_json: AsJson = False,
) -> None:
    """Choose candidate pairs for the labeler."""
    from augsbert_core.sampling import SAMPLERS

    if strategy not in SAMPLERS:
        more = " For stratified-kde use sample-stratified." if "stratified" in strategy else ""
        raise typer.BadParameter(
            f"{strategy!r} is none of {', '.join(SAMPLERS)}.{more}", param_hint="'--strategy'"
        )
    options = SampleOptions(
        strategy=strategy,
        top_k=top_k,
        variant=variant,
        k1=k1,
        b=b,
        stop_words=stop_words,
        encoder=model_name(encoder),
        search=search,
        n_pairs=n_pairs,
        use_unlabelled=unlabelled,
        exclude_silver_sets=tuple(exclude_silver or ()),
        seed=seed,
        device=device,
    )
    workspace = open_home(context)
    result = run_step(workspace, named(workspace, project), "sample", options, as_json=as_json)
    lines = [
        f"Candidate set {result['candidate_set_id']}: {result['n_candidates']:,} pairs.",
        *result.get("notices", []),
    ]
    if result.get("gold_left_out"):
        lines.append(f"{result['gold_left_out']:,} gold pairs would have been chosen too.")
    show(result, lines, as_json=as_json)


def sample_stratified(
    context: typer.Context,
    project: ProjectName,
    labeler: Labeler,
    n_keep: Annotated[int, typer.Option(min=1, help="Silver pairs wanted.")] = STRATIFIED.n_keep,
    encoder: Encoder = STRATIFIED.encoder,
    max_passes: Annotated[
        int | None, typer.Option(min=1, help="Never score more pairs than this.")
    ] = None,
    pilot: Annotated[int, typer.Option(min=1, help="Pairs in the first round.")] = STRATIFIED.pilot,
    rounds: Annotated[int, typer.Option(min=1, help="Rounds after it.")] = STRATIFIED.rounds,
    c: Annotated[
        float, typer.Option(min=SMALLEST_C, max=1.0, help=f"As for keep: {SMALLEST_C} to 1.")
    ] = STRATIFIED.c,
    unlabelled: Unlabelled = STRATIFIED.use_unlabelled,
    exclude_silver: ExcludeSilver = None,
    batch_size: BatchSize = STRATIFIED.batch_size,
    seed: Seed = STRATIFIED.seed,
    device: Device = STRATIFIED.device,
    as_json: AsJson = False,
) -> None:
    """Stratified KDE: sample and label in rounds until the silver scores follow the gold density."""
    options = StratifiedOptions(
        labeler=labeler_name(labeler),
        n_keep=n_keep,
        encoder=model_name(encoder),
        max_passes=max_passes,
        pilot=pilot,
        rounds=rounds,
        c=c,
        use_unlabelled=unlabelled,
        exclude_silver_sets=tuple(exclude_silver or ()),
        batch_size=batch_size,
        seed=seed,
        device=device,
    )
    workspace = open_home(context)
    chosen = named(workspace, project)
    result = run_step(workspace, chosen, "sample-stratified", options, as_json=as_json)
    lines = [kept_line(result, result["n_pool"]), *result["notices"]]
    show(result, lines, as_json=as_json)


def keep(
    context: typer.Context,
    project: ProjectName,
    silver: Annotated[
        int, typer.Option(metavar="ID", min=1, max=2**62, help="The labelled pool.")
    ],
    rule: Annotated[
        Literal["kde", "classification", "top-k"],
        typer.Option(help="kde: by score density. classification: all positives, some negatives."),
    ] = "kde",
    c: Annotated[
        float,
        typer.Option(
            min=SMALLEST_C, max=1.0,
            help=f"kde: {SMALLEST_C} to 1; smaller keeps fewer pairs, closer to gold.",
        ),
    ] = KEEP.c,
    kernel: Annotated[
        Literal["gaussian", "tophat", "epanechnikov", "exponential", "linear", "cosine"],
        typer.Option(help="kde: shape of the kernels."),
    ] = "gaussian",
    bandwidth_rule: Annotated[
        Literal["robust", "silverman", "scott", "cross-validated"],
        typer.Option(help="kde: how wide the kernels are."),
    ] = "robust",
    bandwidth: Annotated[
        float | None, typer.Option(min=0.001, max=1.0, help="kde: a width in place of the rule.")
    ] = None,
    reflect: Annotated[
        bool, typer.Option(help="kde: reflect the kernels at both ends of the scale.")
    ] = KEEP.reflect,
    threshold: Annotated[
        float | None,
        typer.Option(
            min=0.0, max=1.0, help="classification: positive from this score.",
            show_default="the labeler's on dev",
        ),
    ] = None,
    max_rank: Annotated[
        int | None, typer.Option(min=1, help="top-k: the largest rank to keep.")
    ] = None,
    seed: Seed = KEEP.seed,
    as_json: AsJson = False,
) -> None:  # fmt: skip
    """Keep part of a labelled pool as a silver set of its own; nothing is scored again."""
    options = KeepOptions(
        silver_set_id=silver,
        rule=rule,
        c=c,
        kernel=kernel,
        bandwidth_rule=bandwidth_rule,
        bandwidth=bandwidth,
        reflect=reflect,
        threshold=threshold,
        max_rank=max_rank,
        seed=seed,
    )
    workspace = open_home(context)
    result = run_step(workspace, named(workspace, project), "keep", options, as_json=as_json)
    show(result, [kept_line(result, result["n_pool"])], as_json=as_json)


def kept_line(result: dict[str, Any], n_pool: int) -> str:
    """What was kept, of how many, and how close it is to gold."""
    if result["silver_set_id"] is None:
        return (
            f"None of {n_pool:,} pairs were kept; their scores are in silver set {result['pool_set_id']}. "
            "`augsbert keep` tries another rule, c or bandwidth."
        )
    kl = "" if result.get("kl") is None else f" KL(gold‖kept) {result['kl']:.3f} nats."
    return (
        f"Silver set {result['silver_set_id']}: {result['n_kept']:,} of {n_pool:,} pairs kept.{kl}"
    )


def strategies(context: typer.Context, project: ProjectName, as_json: AsJson = False) -> None:
    """What each silver set cost and what it was worth: passes, distances to gold, trained score."""
    from augsbert_core.steps.compare import comparison
    from augsbert_core.steps.strategies import strategy_rows
    from augsbert_core.storage.silver_sets import list_silver_sets

    workspace = open_home(context)
    chosen = named(workspace, project)
    compared = comparison(workspace, chosen.id)
    sets = list_silver_sets(workspace, chosen.id)
    rows = strategy_rows(workspace, chosen, sets, compared)
    if as_json:
        show({"project": chosen.name, "metric": compared.metric, "rows": rows}, [], as_json=True)
        return
    headings = {
        "Set": ">Set", "Strategy": "Strategy", "Pairs": ">Pairs", "Passes": ">Passes", "Seconds": ">Seconds",
        "KL": ">KL(gold‖set)", "Wasserstein": ">Wasserstein", "KS": ">KS", "High": ">Upper half, %",
        "Labeler": "Labeler", "Score": f">{compared.metric.capitalize()}×100", "Interval": "95 % interval",
    }  # fmt: skip
    table(headings, [{key: cell_text(row[key]) for key in headings} for row in rows])


def top_k(
    context: typer.Context,
    project: ProjectName,
    silver: Annotated[
        int, typer.Option(metavar="ID", min=1, max=2**62, help="A silver set with ranks.")
    ],
    as_json: AsJson = False,
) -> None:
    """What each smaller top-k of a silver set would have given: pairs, high scores, distance to gold."""
    from augsbert_core.errors import WorkbenchError
    from augsbert_core.steps.top_k import sampled_top_k, sensitivity
    from augsbert_core.storage.silver_sets import get_silver_set

    workspace = open_home(context)
    chosen, found = named(workspace, project), get_silver_set(workspace, silver)
    if found.project_id != chosen.id:
        raise WorkbenchError(f"Silver set {silver} belongs to another project.")
    if sampled_top_k(workspace, found) is None:
        raise WorkbenchError(
            f"Silver set {silver} has no ranks: only BM25 and semantic sampling order neighbours."
        )
    rows = sensitivity(workspace, chosen, found)
    headings = {"k": ">k", "Pairs": ">Pairs", "High": ">Upper half, %", "KL": ">KL(gold‖k)"}
    if as_json:
        show({"silver_set_id": silver, "rows": rows}, [], as_json=True)
    else:
        table(headings, [{key: cell_text(row[key]) for key in headings} for row in rows])


def cell_text(value: object) -> str:
    """A number or a text for a table; nothing for None."""
    if value is None:
        return ""
    return f"{value:,.3f}" if isinstance(value, float) else str(value)
