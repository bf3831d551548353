"""Commands that carry out several runs as one job: seeds, sweeps, trials, learning curves, another domain."""

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from augsbert_core.cli.console import AsJson, Device, ProjectName, open_home, run_step, show, table
from augsbert_core.cli.data import named
from augsbert_core.errors import WorkbenchError
from augsbert_core.options import BatchOptions, BiEncoderOptions, CrossEncoderOptions, SampleOptions

if TYPE_CHECKING:
    from augsbert_core.storage.database import Workspace
    from augsbert_core.storage.records import Project

Like = Annotated[
    int | None,
    typer.Option(
        metavar="RUN", min=1, help="Bi-encoder run whose recipe is used.", show_default="the newest"
    ),
]
LabelerLike = Annotated[
    int | None,
    typer.Option(
        metavar="RUN", min=1, help="Labeler run whose recipe is used.", show_default="the newest"
    ),
]
NumRuns = Annotated[int, typer.Option(min=1, help="Seeds per recipe.")]
SeedStep = Annotated[int, typer.Option(min=1, help="From one seed to the next.")]
FirstSeed = Annotated[
    int | None,
    typer.Option(min=0, max=2**31 - 1, help="The first seed.", show_default="the recipe's"),
]
Labeler = Annotated[
    str, typer.Option(help="One labeler for all seeds, run:ID or a model, instead of one per seed.")
]
Candidates = Annotated[
    int | None,
    typer.Option(
        metavar="ID", min=1, max=2**62, help="Candidate set to label.", show_default="BM25, sampled anew"
    ),
]  # fmt: skip
TopK = Annotated[int, typer.Option(min=1, help="Neighbours per sentence when BM25 samples anew.")]
SilverSet = Annotated[
    int | None,
    typer.Option(metavar="ID", min=1, max=2**62, help="Use this silver set as it is; label nothing."),
]  # fmt: skip
GoldOnly = Annotated[bool, typer.Option("--gold-only", help="No silver at all.")]
Wait = Annotated[
    bool, typer.Option("--wait/--no-wait", help="Wait for the end, or run in the background.")
]
Shared = Annotated[
    bool,
    typer.Option(
        "--share-device",
        help="With --no-wait: other shared jobs may run on the same card at the same time.",
    ),
]


def register(app: typer.Typer) -> None:
    """Add these commands to the app."""
    app.command("multi-run")(several_seeds)
    app.command("sweep")(sweep_values)
    app.command("will-silver-help")(trial)
    app.command("learning-curve")(curve)
    app.command("adapt")(adapt)


def several_seeds(
    context: typer.Context,
    project: ProjectName,
    like: Like = None,
    num_runs: NumRuns = 3,
    seed_step: SeedStep = 1,
    seed: FirstSeed = None,
    labeler: Labeler = "",
    labeler_like: LabelerLike = None,
    candidates: Candidates = None,
    top_k: TopK = 5,
    silver: SilverSet = None,
    gold_only: GoldOnly = False,
    split: Annotated[
        Literal["test", "dev", "none"], typer.Option(help="Where all models are measured.")
    ] = "test",
    device: Device = "auto",
    wait: Wait = True,
    share_device: Shared = False,
    as_json: AsJson = False,
) -> None:
    """The same recipe over several seeds, labeler and student both reseeded: mean ± standard deviation."""
    from augsbert_core.steps.plans import multi_run

    workspace = open_home(context)
    chosen = named(workspace, project)
    recipe = replace(_student(workspace, chosen, like, seed, device), silver_set_id=silver)
    labelled = not gold_only and silver is None
    plan = multi_run(
        recipe,
        cross=_labeler(workspace, chosen, labeler_like) if labelled and not labeler else None,
        candidates=_candidates(candidates, top_k, recipe) if labelled else None,
        labeler=labeler,
        num_runs=num_runs,
        seed_step=seed_step,
        split="" if split == "none" else split,
    )
    launch_plan(workspace, chosen, plan, wait=wait, shared=share_device, as_json=as_json)


def sweep_values(
    context: typer.Context,
    project: ProjectName,
    grid: Annotated[
        Literal["top-k", "bert", "rates", "none"], typer.Option(help="Preset of values.")
    ] = "none",
    learning_rates: Annotated[str, typer.Option(help="Values, with commas.")] = "",
    batch_sizes: Annotated[str, typer.Option(help="Values, with commas.")] = "",
    top_ks: Annotated[str, typer.Option(help="Values, with commas; needs --labeler.")] = "",
    labeler: Annotated[str, typer.Option(help="Labels each top-k: run:ID or a model.")] = "",
    cross_encoder: Annotated[
        bool, typer.Option("--cross-encoder", help="Sweep the labeler's recipe, not the student's.")
    ] = False,
    like: Annotated[
        int | None,
        typer.Option(metavar="RUN", min=1, help="Run whose recipe varies.", show_default="newest"),
    ] = None,
    num_runs: NumRuns = 1,
    seed_step: SeedStep = 1,
    seed: FirstSeed = None,
    device: Device = "auto",
    wait: Wait = True,
    share_device: Shared = False,
    as_json: AsJson = False,
) -> None:
    """The same recipe with other learning rates, batch sizes or top-k; the best on dev is marked."""
    from augsbert_core.steps.plans import GRIDS, sweep
    from augsbert_core.steps.plans.parts import numbers_in

    workspace = open_home(context)
    chosen = named(workspace, project)
    preset = GRIDS.get(grid)
    recipe: BiEncoderOptions | CrossEncoderOptions
    if cross_encoder:
        recipe = replace(_labeler(workspace, chosen, like), device=device)
        recipe = recipe if seed is None else replace(recipe, seed=seed)
    else:
        recipe = _student(workspace, chosen, like, seed, device)
    plan = sweep(
        recipe,
        learning_rates=numbers_in(learning_rates, float)
        or (preset.learning_rates if preset else ()),
        batch_sizes=numbers_in(batch_sizes, int) or (preset.batch_sizes if preset else ()),
        top_ks=numbers_in(top_ks, int) or (preset.top_ks if preset else ()),
        labeler=labeler,
        num_runs=num_runs,
        seed_step=seed_step,
    )
    launch_plan(workspace, chosen, plan, wait=wait, shared=share_device, as_json=as_json)


def trial(
    context: typer.Context,
    project: ProjectName,
    pairs: Annotated[int, typer.Option(min=1, help="Silver pairs of the trial.")] = 1000,
    like: Like = None,
    seed: Annotated[int, typer.Option(min=0, max=2**31 - 1, help="The seed.")] = 42,
    device: Device = "auto",
    wait: Wait = True,
    share_device: Shared = False,
    as_json: AsJson = False,
) -> None:
    """Will silver help on this data? A small trial, measured on dev, that ends in one sentence."""
    from augsbert_core.steps.plans import will_silver_help

    workspace = open_home(context)
    chosen = named(workspace, project)
    recipe = _student(workspace, chosen, like, seed, device)
    plan = will_silver_help(workspace, chosen, n_silver=pairs, seed=seed, device=device, bi=recipe)
    launch_plan(workspace, chosen, plan, wait=wait, shared=share_device, as_json=as_json)


def curve(
    context: typer.Context,
    project: ProjectName,
    fractions: Annotated[
        str, typer.Option(help="Parts of the gold pairs, with commas.")
    ] = "0.1,0.25,0.5,1",
    like: Like = None,
    num_runs: NumRuns = 1,
    seed_step: SeedStep = 1,
    seed: FirstSeed = None,
    labeler_like: LabelerLike = None,
    candidates: Candidates = None,
    top_k: TopK = 5,
    silver: SilverSet = None,
    gold_only: GoldOnly = False,
    device: Device = "auto",
    wait: Wait = True,
    share_device: Shared = False,
    as_json: AsJson = False,
) -> None:
    """Scores against the number of gold pairs (figure 1), with and without silver."""
    from augsbert_core.steps.plans import learning_curve
    from augsbert_core.steps.plans.parts import numbers_in
    from augsbert_core.storage.projects import count_project

    workspace = open_home(context)
    chosen = named(workspace, project)
    recipe = replace(_student(workspace, chosen, like, seed, device), silver_set_id=silver)
    labelled = not gold_only and silver is None
    counts = count_project(workspace, chosen.id)
    plan = learning_curve(
        recipe,
        counts.train,
        fractions=numbers_in(fractions, float),
        num_runs=num_runs,
        seed_step=seed_step,
        cross=_labeler(workspace, chosen, labeler_like) if labelled else None,
        candidates=_candidates(candidates, top_k, recipe) if labelled else None,
        split="test" if counts.test else "",
    )
    launch_plan(workspace, chosen, plan, wait=wait, shared=share_device, as_json=as_json)


def adapt(
    context: typer.Context,
    project: ProjectName,
    source: Annotated[str, typer.Option(help="Name of the project whose labeler labels.")],
    like: Annotated[
        int | None,
        typer.Option(
            metavar="RUN",
            min=1,
            help="Bi-encoder run whose recipe is used.",
            show_default="the newest of the source",
        ),
    ] = None,
    labeler: Annotated[
        str, typer.Option(help="run:ID or a model.", show_default="newest of the source")
    ] = "",
    candidates: Candidates = None,
    top_k: TopK = 5,
    num_runs: NumRuns = 1,
    seed_step: SeedStep = 1,
    seed: FirstSeed = None,
    device: Device = "auto",
    wait: Wait = True,
    share_device: Shared = False,
    as_json: AsJson = False,
) -> None:
    """Domain adaptation (paper §3.2): another project's labeler labels this one's pairs; both bounds beside it."""
    from augsbert_core.steps.plans import domain_adaptation

    workspace = open_home(context)
    target, origin = named(workspace, project), named(workspace, source)
    recipe = _student(workspace, origin, like, seed, device)
    sample = replace(SampleOptions(top_k=top_k, seed=recipe.seed), use_unlabelled=True)
    plan = domain_adaptation(
        workspace,
        origin,
        target,
        bi=recipe,
        labeler=labeler,
        candidates=candidates or sample,
        num_runs=num_runs,
        seed_step=seed_step,
    )
    launch_plan(workspace, target, plan, wait=wait, shared=share_device, as_json=as_json)


# --- shared ----------------------------------------------------------------------------------------


def _student(
    workspace: "Workspace", project: "Project", like: int | None, seed: int | None, device: str
) -> BiEncoderOptions:
    from augsbert_core.steps.plans.recipes import newest_recipe

    recipe = (
        newest_recipe(workspace, project)
        if like is None
        else _recipe_of(workspace, like, "train-bi-encoder", BiEncoderOptions)
    )
    return replace(recipe, device=device, seed=recipe.seed if seed is None else seed)


def _labeler(workspace: "Workspace", project: "Project", like: int | None) -> CrossEncoderOptions:
    from augsbert_core.steps.plans.recipes import newest_labeler

    if like is None:
        return newest_labeler(workspace, project)
    return _recipe_of(workspace, like, "train-cross-encoder", CrossEncoderOptions)


def _recipe_of(workspace: "Workspace", run_id: int, step: str, options_class: Any) -> Any:
    from augsbert_core.options import from_json
    from augsbert_core.storage.runs import get_run

    run = get_run(workspace, run_id)
    if run.step != step:
        raise WorkbenchError(
            f"Run {run_id} is of step {run.step}; here one of step {step} is needed."
        )
    return from_json(options_class, run.options)


def _candidates(
    candidates: int | None, top_k: int, recipe: BiEncoderOptions
) -> SampleOptions | int:
    return candidates or SampleOptions(top_k=top_k, seed=recipe.seed)


def launch_plan(
    workspace: "Workspace",
    project: "Project",
    plan: BatchOptions,
    *,
    wait: bool,
    shared: bool,
    as_json: bool,
) -> None:
    """Carry the plan out here, or queue it; print what came out."""
    from augsbert_core import jobs

    if not wait:
        job = jobs.enqueue(workspace, project.id, "batch", plan, shared=shared)
        show(
            {"job_id": job.id, "run_id": job.run_id, "n_runs": len(plan.runs), "state": job.state},
            [f"Job {job.id}: {len(plan.runs)} runs in the background. `augsbert jobs` shows it."],
            as_json=as_json,
        )
        return
    if shared:
        raise WorkbenchError("--share-device is for background jobs: add --no-wait.")
    result = run_step(workspace, project, "batch", plan, as_json=as_json)
    if as_json:
        show(result, [], as_json=True)
        return
    _show_groups(result["summary"])
    outcome = result.get("outcome")
    for line in result["summary"]["notes"]:
        typer.echo(line)
    if outcome:
        typer.echo(outcome["sentence"])
        typer.echo(outcome["estimate_sentence"])
    typer.echo(f"Run {result['run_id']}: {workspace.run_folder(result['run_id']) / 'summary.csv'}")


def _show_groups(summary: dict[str, Any]) -> None:
    headings = {
        "group": "Model", "n": ">Seeds", "dev_score": ">Dev × 100", "test_score": ">Test × 100",
        "auc05": ">AUC(0.05) × 100", "n_gold": ">Gold", "n_silver": ">Silver", "n_steps": ">Steps",
        "seconds": ">Seconds",
    }  # fmt: skip
    scores = ("dev_score", "test_score", "auc05")
    for name in scores[1:]:
        if all(group[name] is None for group in summary["groups"]):
            headings.pop(name)
    rows = []
    for group in summary["groups"]:
        row = {name: _mean_text(group[name], group[f"{name}_sd"]) for name in scores}
        for name in ("n_gold", "n_silver", "n_steps", "seconds"):
            row[name] = "" if group[name] is None else f"{group[name]:.0f}"
        best = "* " if group["group"] == summary["best"] else ""
        rows.append(row | {"group": best + group["group"], "n": str(group["n"])})
    table(headings, rows)


def _mean_text(mean: float | None, deviation: float | None) -> str:
    if mean is None:
        return ""
    return f"{100 * mean:.1f}" + ("" if deviation is None else f" ± {100 * deviation:.1f}")
