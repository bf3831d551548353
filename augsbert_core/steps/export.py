"""Take a trained model, its recipe or a script out of the workbench; data leave by `export_data`."""

from pathlib import Path
from typing import Any

from augsbert_core.cards import model_card
from augsbert_core.errors import WorkbenchError
from augsbert_core.exporting.files import Entry, write_folder, write_zip
from augsbert_core.models import hub, inspection
from augsbert_core.options import BiEncoderOptions, CrossEncoderOptions, PushOptions
from augsbert_core.scripts import (
    BiEncoderScript,
    CrossEncoderScript,
    bi_encoder_script,
    cross_encoder_script,
)
from augsbert_core.steps.card_facts import (
    KINDS,
    model_facts,
    public_name,
    trained_run,
    training_options,
)
from augsbert_core.steps.promotion import promoted_sets
from augsbert_core.steps.recipes import stage_options, stages_of
from augsbert_core.storage import projects, runs
from augsbert_core.storage.database import Workspace
from augsbert_core.storage.records import Run
from augsbert_core.toml_text import to_toml

CARD = "README.md"

# --- models ----------------------------------------------------------------------------------------


def model_files(workspace: Workspace, run_id: int) -> dict[str, Path]:
    """The files of a trained model's folder by name. WorkbenchError: the run has no model."""
    run = trained_run(workspace, run_id)
    folder = workspace.home / str(run.model_path)
    return {
        path.relative_to(folder).as_posix(): path
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != CARD
    }


def model_entries(workspace: Workspace, run_id: int) -> list[Entry]:
    """The files of a trained model, its card first. WorkbenchError: the run has no model."""
    files = model_files(workspace, run_id)
    card = model_card(model_facts(workspace, run_id)).encode("utf-8")
    return [Entry(CARD, card), *(Entry(name, path) for name, path in files.items())]


def export_model(workspace: Workspace, run_id: int, target: Path) -> list[Entry]:
    """Write a trained model with its card to a new folder, or to a zip file when the target ends in .zip.

    WorkbenchError: the run has no model, or the target is there already.
    """
    entries = model_entries(workspace, run_id)
    _write(entries, target)
    return entries


def _write(entries: list[Entry], target: Path) -> None:
    if target.suffix.lower() == ".zip":
        write_zip(entries, target)
    else:
        write_folder(entries, target)


def check_push(options: PushOptions) -> None:
    """WorkbenchError: the repository's name will not do."""
    hub.check_repo(options.repo)


def push_files(workspace: Workspace, run_id: int) -> list[tuple[str, int]]:
    """What a push would upload: names and sizes in bytes. Needs no network and no token."""
    return [(entry.name, entry.size or 0) for entry in model_entries(workspace, run_id)]


def push_model(
    workspace: Workspace, options: PushOptions, token: str, *, endpoint: str | None = None
) -> str:
    """Upload a trained model with its card to the hub and return its address there.

    The token is handed on and stored nowhere; the run keeps where it was pushed to. endpoint: another hub than
    the public one. WorkbenchError: the name or the token will not do, or the hub refuses.
    """
    check_push(options)
    entries = model_entries(workspace, options.run_id)
    files = [(entry.name, entry.source) for entry in entries]
    address = hub.push(files, options.repo, token, private=options.private, endpoint=endpoint)  # type: ignore[arg-type]
    runs.update_run(workspace, options.run_id, metrics={"pushed_to": address})
    return address


# --- recipes ----------------------------------------------------------------------------------------


def recipe_text(workspace: Workspace, run_id: int) -> str:
    """What a training run was told, as TOML. WorkbenchError: the run trains no model."""
    run = _training_run(workspace, run_id)
    options = training_options(run)
    comments = [f"The recipe of run {run.id}, a {KINDS[run.step]}."]
    if options.silver_set_id is not None:
        comments.append("silver_set_id is the number of a silver set in the workspace of that run.")
    return to_toml(options, comments=comments)


def script_entries(workspace: Workspace, run_id: int) -> list[Entry]:
    """The files of a training script: train.py, and the module of attention pooling where it is used."""
    run = _training_run(workspace, run_id)
    entries = [Entry("train.py", script_text(workspace, run_id).encode("utf-8"))]
    if script_files(run) > 1:
        entries.append(Entry("attention_pooling.py", inspection.ATTENTION_POOLING))
    return entries


def script_files(run: Run) -> int:
    """How many files a training script is."""
    return 2 if getattr(training_options(run), "pooling", "own") == "attention" else 1


def export_script(workspace: Workspace, run_id: int, target: Path) -> None:
    """Write a training script with what it needs to a new folder or zip file."""
    _write(script_entries(workspace, run_id), target)


def script_text(workspace: Workspace, run_id: int) -> str:
    """A Python script that trains the recipe of a run with sentence-transformers alone.

    WorkbenchError: the run trains no model, or on pairs that a script cannot make.
    """
    run = _training_run(workspace, run_id)
    options = training_options(run)
    project = projects.get_project(workspace, run.project_id)
    common = {
        "run_id": run.id,
        "base": public_name(options.base),
        "layers": options.layers,
        "max_length": options.max_length,
        "scale": (project.score_low, project.score_high),
        "metric": "f1" if project.task == "classification" else "spearman",
        "seed": int(run.metrics.get("chosen_seed") or run.seed),
        "gold_limit": options.gold_limit,
        "silver_weight": options.silver_weight,
        "patience": options.patience,
        "versions": run.versions,
    }
    if isinstance(options, BiEncoderOptions):
        return bi_encoder_script(_bi_script(options, common))
    return cross_encoder_script(_cross_script(run, options, common))


def _decision_notes(options: BiEncoderOptions | CrossEncoderOptions) -> list[str]:
    """What the files of a script must hold, where people's decisions on silver are taken in another way than usual."""
    notes = []
    if options.silver_set_id is not None and options.silver_scores == "raw":
        notes.append("the run took the labeler's own silver scores, whatever people corrected")
    if options.silver_set_id is not None and options.keep_rejected:
        notes.append("the run trained on rejected silver pairs too")
    for set_id in promoted_sets(options):
        notes.append(
            f"corrected and accepted pairs of silver set {set_id} counted as gold: put them into the gold file, after "
            "the others"
        )
    return notes


def script_refusal(run: Run) -> str | None:
    """Why there can be no script of a run; None when there can."""
    if run.metrics.get("negatives", "none") == "none":
        return None
    return (
        f"Run {run.id} was trained on {run.metrics['negatives']} negatives that the workbench made of one-class gold; "
        "a script cannot make the same ones. Export the recipe as TOML, or give the project pairs of both classes."
    )


def _training_run(workspace: Workspace, run_id: int) -> Run:
    run = runs.get_run(workspace, run_id)
    if run.step not in KINDS:
        raise WorkbenchError(f"Run {run_id} is of step {run.step}. Name a run that trains a model.")
    return run


def _bi_script(options: BiEncoderOptions, common: dict[str, Any]) -> BiEncoderScript:
    stages: list[dict[str, Any]] = []
    notes = _decision_notes(options)
    for number, stage in enumerate(stages_of(options)[options.first_stage - 1 :]):
        told = stage_options(options, stage, is_first=not number)
        names = (
            "loss", "epochs", "max_steps", "batch_size", "learning_rate", "schedule", "warmup_ratio",
            "weight_decay", "scale",
        )  # fmt: skip
        stages.append({"data": stage.data} | {name: getattr(told, name) for name in names})
    if options.seeds > 1:
        notes.append(
            f"the seed is the best of {options.seeds} on dev; the script trains that one alone"
        )
    if options.first_stage > 1:
        notes.append(f"the recipe begins at its stage {options.first_stage}, from --base")
    return BiEncoderScript(
        **common,
        notes=tuple(notes),
        stages=tuple(stages),
        pooling=options.pooling,
        gold_repeats=options.gold_repeats,
        symmetric=options.symmetric,
        hard_negatives=options.hard_negatives,
        positive_from=options.positive_from,
        negative_below=options.negative_below,
    )


def _cross_script(
    run: Run, options: CrossEncoderOptions, common: dict[str, Any]
) -> CrossEncoderScript:
    if refusal := script_refusal(run):
        raise WorkbenchError(refusal)
    names = ("epochs", "max_steps", "batch_size", "learning_rate", "warmup_ratio", "weight_decay")
    warm = int(run.metrics.get("warm_start_pairs") or 0)
    notes = _decision_notes(options)
    if warm:
        notes.append("the warm start's near pairs are the base's nearest neighbours, not BM25's")
    if options.seeds > 1:
        notes.append(
            f"the seed is the best of {options.seeds} on dev; the script trains that one alone"
        )
    if options.loss in ("ranknet", "lambda", "listnet"):
        notes.append(
            "a batch is so many queries; the workbench fills batches with whole queries by rows"
        )
    return CrossEncoderScript(
        **common,
        notes=tuple(notes),
        head=inspection.head_kind(options.base, options.hidden),
        hidden=options.hidden,
        loss=options.loss,
        pos_weight=options.pos_weight,
        both_orders=options.both_orders,
        use_gold=options.use_gold,
        use_silver=options.silver_set_id is not None,
        warm_start_pairs=warm,
        training={name: getattr(options, name) for name in names} | {"schedule": "warmup"},
    )
