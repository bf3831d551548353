"""Commands about neighbours and words: augmentation, reranking, mined negatives, and trying models out."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from augsbert_core.cli.console import (
    AsJson,
    Device,
    ProjectName,
    Seed,
    open_home,
    progress,
    run_step,
    show,
    table,
)
from augsbert_core.cli.data import named
from augsbert_core.cli.silver import model_name
from augsbert_core.errors import WorkbenchError
from augsbert_core.options import AugmentOptions, NegativesOptions, RerankOptions

if TYPE_CHECKING:
    from augsbert_core.steps.try_it import Choice
    from augsbert_core.storage.database import Workspace
    from augsbert_core.storage.records import Project

AUGMENT = AugmentOptions()
RERANK = RerankOptions(())
NEGATIVES = NegativesOptions()

Split = Annotated[Literal["train", "dev", "test"], typer.Option(help="Which gold pairs.")]
Source = Annotated[
    str,
    typer.Option(
        metavar="bm25|RUN|MODEL",
        help="What finds near sentences: bm25, a bi-encoder run's number, or a model's name or folder.",
    ),
]


def register(app: typer.Typer) -> None:
    """Add these commands to the app."""
    app.command()(augment)
    app.command()(rerank)
    app.command("mine-negatives")(mine_negatives)
    app.command("try")(try_pair)
    app.command()(search)


def target_name(given: str) -> str:
    """A run's number as "run:ID", a name or folder as "model:NAME"; "bm25" and full targets as they are."""
    name = model_name(given)
    is_target = name == "bm25" or name.startswith(("run:", "model:", "cross:"))
    return name if is_target else f"model:{name}"


def augment(
    context: typer.Context,
    project: ProjectName,
    model: Annotated[
        str, typer.Option(help="A masked language model's name or folder.")
    ] = AUGMENT.model,
    per_pair: Annotated[
        int, typer.Option(min=1, max=20, help="Copies of each gold training pair.")
    ] = AUGMENT.per_pair,
    share: Annotated[
        float, typer.Option(min=0.01, max=1.0, help="Share of the words that is replaced.")
    ] = AUGMENT.share,
    top: Annotated[
        int, typer.Option(min=1, max=1000, help="Draw among so many of the model's best words.")
    ] = AUGMENT.top,
    seed: Seed = AUGMENT.seed,
    device: Device = AUGMENT.device,
    as_json: AsJson = False,
) -> None:
    """Copy gold pairs with words replaced in context (NLPAug): a silver set that no labeler made."""
    options = AugmentOptions(
        model=model, per_pair=per_pair, share=share, top=top, seed=seed, device=device
    )
    workspace = open_home(context)
    result = run_step(workspace, named(workspace, project), "augment", options, as_json=as_json)
    line = f"Silver set {result['silver_set_id']}: {result['n_copies']:,} copies of gold pairs."
    show(result, [line, *result["notices"]], as_json=as_json)


def rerank(
    context: typer.Context,
    project: ProjectName,
    reranker: Annotated[
        list[str],
        typer.Option(
            metavar="RUN|MODEL",
            help="A cross-encoder: a run's number, a name or a folder; may be repeated.",
        ),
    ],
    first_stage: Source = RERANK.first_stage,
    depth: Annotated[
        int,
        typer.Option(min=1, max=10_000, help="Candidates per query; as many as in deployment."),
    ] = RERANK.depth,
    relevant_from: Annotated[
        float, typer.Option(min=0.0, max=1.0, help="A pair is relevant from this score in [0, 1].")
    ] = RERANK.relevant_from,
    split: Split = "test",
    seed: Seed = RERANK.seed,
    device: Device = RERANK.device,
    as_json: AsJson = False,
) -> None:
    """Judge cross-encoders as rerankers: nDCG@10 and MRR on the candidates of one first stage."""
    options = RerankOptions(
        rerankers=tuple(target_name(name) for name in reranker),
        first_stage=target_name(first_stage),
        depth=depth,
        relevant_from=relevant_from,
        split=split,
        seed=seed,
        device=device,
    )
    workspace = open_home(context)
    result = run_step(workspace, named(workspace, project), "rerank", options, as_json=as_json)
    if as_json:
        show(result, [], as_json=True)
        return
    headings = {
        "target": "Order by", "kind": "Kind", "ndcg": ">nDCG@10", "interval": "95 % interval",
        "difference": ">To first stage", "gap": "95 % interval", "mrr": ">MRR", "recall": ">Recall",
    }  # fmt: skip
    table(headings, [_rerank_row(row) for row in result["rows"]])
    counts = f"{result['n_queries']:,} queries, {result['n_reranked']:,} candidates."
    show(result, [counts, *result["notices"]], as_json=False)


def _rerank_row(row: dict[str, Any]) -> dict[str, str]:
    def text(name: str) -> str:
        return "" if row.get(name) is None else f"{row[name] * 100:.1f}"

    def between(low: str, high: str) -> str:
        return "" if row.get(low) is None else f"{text(low)} to {text(high)}"

    return {
        "target": row["target"],
        "kind": row["kind"],
        "ndcg": text("ndcg"),
        "interval": between("ndcg_low", "ndcg_high"),
        "difference": text("difference"),
        "gap": between("difference_low", "difference_high"),
        "mrr": text("mrr"),
        "recall": text("recall"),
    }


def mine_negatives(
    context: typer.Context,
    project: ProjectName,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="A new file, *.jsonl or *.csv.", dir_okay=False)
    ],
    source: Source = NEGATIVES.source,
    labeler: Annotated[
        str,
        typer.Option(
            metavar="RUN|MODEL",
            help="Leaves out negatives that it takes for positives.",
            show_default="none",
        ),
    ] = "",
    per_positive: Annotated[
        int, typer.Option(min=1, max=100, help="Negatives for each positive.")
    ] = NEGATIVES.per_positive,
    positive_from: Annotated[
        float, typer.Option(min=0.0, max=1.0, help="Positive from this score in [0, 1].")
    ] = NEGATIVES.positive_from,
    negative_below: Annotated[
        float, typer.Option(min=0.0, max=1.0, help="No negative is scored this or more.")
    ] = NEGATIVES.negative_below,
    split: Split = "train",
    seed: Seed = NEGATIVES.seed,
    device: Device = NEGATIVES.device,
    as_json: AsJson = False,
) -> None:
    """Write queries with positives and near negatives, to train rerankers and retrievers elsewhere."""
    import shutil

    from augsbert_core.exporting.files import check_new_file

    if output.suffix not in (".jsonl", ".csv"):
        raise typer.BadParameter(f"{output.name!r} ends in neither .jsonl nor .csv.")
    check_new_file(output)
    options = NegativesOptions(
        source=target_name(source),
        labeler=model_name(labeler) if labeler else "",
        per_positive=per_positive,
        positive_from=positive_from,
        negative_below=negative_below,
        split=split,
        seed=seed,
        device=device,
    )
    workspace = open_home(context)
    result = run_step(
        workspace, named(workspace, project), "mine-negatives", options, as_json=as_json
    )
    try:
        shutil.copyfile(workspace.home / result[output.suffix.removeprefix(".")], output)
    except OSError as error:
        raise WorkbenchError(f"{output} cannot be written ({error.strerror}).") from error
    line = (
        f"{output}: {result['n_queries']:,} queries, {result['n_positives']:,} positives, "
        f"{result['n_negatives']:,} negatives."
    )
    show({**result, "output": str(output)}, [line, *result["notices"]], as_json=as_json)


Runs = Annotated[
    list[str] | None,
    typer.Option(
        "--run", metavar="RUN|MODEL", help="A run's number, or a model's name or folder; may be repeated.",
        show_default="the newest of each kind, and the untrained base",
    ),
]  # fmt: skip


def try_pair(
    context: typer.Context,
    project: ProjectName,
    sentence1: str,
    sentence2: str,
    run: Runs = None,
    device: Device = "cpu",
    as_json: AsJson = False,
) -> None:
    """Score two sentences with several models, as they say it and on the project's scale."""
    from dataclasses import asdict

    from augsbert_core.steps import try_it

    workspace = open_home(context)
    chosen = named(workspace, project)
    names = {choice.target: choice.label for choice in try_it.choices(workspace, chosen)}
    targets = [target_name(name) for name in run] if run else _usual(workspace, chosen)
    scores = try_it.score_pair(workspace, chosen, targets, sentence1, sentence2, device=device)
    if as_json:
        show({"scores": [asdict(score) for score in scores]}, [], as_json=True)
        return
    headings = {"model": "Model", "raw": ">Raw", "what": "", "score": f">{chosen.score_range}"}
    table(
        headings,
        [
            {
                "model": names.get(score.target, score.target),
                "raw": f"{score.raw:.3f}",
                "what": "cosine" if score.kind == "bi_encoder" else "logit",
                "score": f"{chosen.score_range.to_raw(score.score):.2f}",
            }
            for score in scores
        ],
    )
    show({}, [try_it.UNCALIBRATED], as_json=False)


def _usual(workspace: "Workspace", project: "Project") -> list[str]:
    """The newest model of each kind, the newest gold-only one, and the untrained base."""
    from augsbert_core.steps import try_it

    found: list[Choice] = try_it.choices(workspace, project)
    bi_encoders = [choice.target for choice in found if choice.kind == "bi_encoder"]
    labelers = [choice.target for choice in found if choice.kind == "cross_encoder"]
    gold = try_it.gold_only(workspace, project)
    middle = [f"run:{gold.id}"] if gold else []
    return list(dict.fromkeys([*bi_encoders[:1], *middle, *labelers[:1], bi_encoders[-1]]))


def search(
    context: typer.Context,
    project: ProjectName,
    query: str,
    run: Annotated[
        str | None,
        typer.Option(
            metavar="RUN|MODEL",
            help="A bi-encoder: a run's number, or a name or folder.",
            show_default="the newest run, else the untrained base",
        ),
    ] = None,
    top: Annotated[int, typer.Option(min=1, max=1000, help="How many sentences.")] = 10,
    rerank: Annotated[
        str | None,
        typer.Option(metavar="RUN|MODEL", help="A cross-encoder that puts them in a new order."),
    ] = None,
    device: Device = "cpu",
    as_json: AsJson = False,
) -> None:
    """Find the training and unlabelled sentences nearest to a query."""
    from dataclasses import asdict

    from augsbert_core.steps import try_it

    workspace = open_home(context)
    chosen = named(workspace, project)
    target = target_name(run) if run else _usual(workspace, chosen)[0]
    with progress("Search", quiet=as_json) as report:
        found = try_it.search(
            workspace,
            chosen,
            target,
            query,
            top=top,
            rerank=target_name(rerank) if rerank else None,
            device=device,
            report=report,
        )
    if as_json:
        show({"target": target, **asdict(found)}, [], as_json=True)
        return
    headings = {"place": ">", "cosine": ">Cosine"} | (
        {"reranked": f">{chosen.score_range}"} if rerank else {}
    )
    rows = [
        {
            "place": str(place),
            "cosine": f"{hit.cosine:.3f}",
            "reranked": ""
            if hit.reranked is None
            else f"{chosen.score_range.to_raw(hit.reranked):.2f}",
            "text": hit.text,
        }
        for place, hit in enumerate(found.hits, 1)
    ]
    table(headings | {"text": "Sentence"}, rows)
    show({}, [try_it.times_text(found)], as_json=False)
