"""`augsbert import`: files into a project, or with --dry-run only what they would bring in."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from augsbert_core.cli.console import AsJson, show
from augsbert_core.cli.import_work import carry_out
from augsbert_core.errors import Stopped, WorkbenchError
from augsbert_core.options import ImportOptions

if TYPE_CHECKING:
    from augsbert_core.steps.import_data import ImportReport
    from augsbert_core.steps.import_plan import ImportPlan


def register(app: typer.Typer) -> None:
    """Add these commands to the app."""
    app.command("import")(import_files)


def import_files(
    context: typer.Context,
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE",
            help="CSV, TSV, JSON, JSON lines, Parquet or Excel, also as .gz or .zip; a Hugging Face dataset folder; "
            "hub:owner/name or hub:owner/name@revision; - for standard input. Several come in together, or none does.",
        ),
    ],
    project: Annotated[
        str | None,
        typer.Option(
            "--project",
            "-p",
            help="Name of the project, made when there is none. Only --dry-run needs none.",
            show_default=False,
        ),
    ] = None,
    kind: Annotated[
        Literal["pairs", "unlabelled-pairs", "sentences", "nli", "triplets"],
        typer.Option(
            help="Scored gold pairs, pairs to be labelled, sentences to sample from, NLI pairs (premise, "
            "hypothesis, label), or triplets (anchor, positive, negative)."
        ),
    ] = "pairs",
    encoding: Annotated[
        str | None, typer.Option(help="utf-8, utf-16, cp1252 …", show_default="found out")
    ] = None,
    delimiter: Annotated[
        str | None,
        typer.Option(
            help="One character, or tab, comma, semicolon, pipe.", show_default="found out"
        ),
    ] = None,
    header: Annotated[
        bool | None,
        typer.Option(
            "--header/--no-header",
            help="Whether the first row names the columns.",
            show_default="found out",
        ),
    ] = None,
    quoting: Annotated[
        bool | None,
        typer.Option(
            "--quoting/--no-quoting",
            help='Whether "…" holds a cell together.',
            show_default="found out",
        ),
    ] = None,
    sheet: Annotated[
        str | None,
        typer.Option(
            help="Only this sheet of a workbook, file of an archive, or split of a dataset.",
            show_default="the first sheet; all files and splits",
        ),
    ] = None,
    columns: Annotated[
        str | None,
        typer.Option(
            metavar="A,B,SCORE",
            help="Names or 0-based positions, in the order in which --kind names them.",
            show_default="guessed",
        ),
    ] = None,
    split_column: Annotated[
        str | None,
        typer.Option(
            help="Column that names the split; '' leaves it unread.", show_default="guessed"
        ),
    ] = None,
    group_column: Annotated[
        str | None,
        typer.Option(
            help="Column that names a group, such as a genre; '' leaves it unread.",
            show_default="guessed",
        ),
    ] = None,
    id_column: Annotated[
        str | None,
        typer.Option(
            help="Column with the file's own name of each row; '' leaves it unread.",
            show_default="guessed",
        ),
    ] = None,
    score_range: Annotated[
        str | None,
        typer.Option(
            metavar="LO:HI",
            help="Lowest and highest possible score, 0:5 for STS. Needed for scores, unless the project has it.",
            show_default=False,
        ),
    ] = None,
    label: Annotated[
        list[str] | None,
        typer.Option(
            metavar="WORD=SCORE",
            help="What a score written as a word means; once per word.",
            show_default="well-known words",
        ),
    ] = None,
    task: Annotated[
        Literal["regression", "classification"] | None,
        typer.Option(
            help="What the scores are.", show_default="classification when all scores are 0 or 1"
        ),
    ] = None,
    limit: Annotated[
        int | None, typer.Option(min=1, help="So many rows only.", show_default=False)
    ] = None,
    subsample: Annotated[
        Literal["first", "random", "balanced", "groups"],
        typer.Option(
            help="Which rows --limit takes: the first of each file, at random, equally many of each score, or of each group."
        ),
    ] = "first",
    split: Annotated[
        Literal["train", "dev", "test"] | None,
        typer.Option(
            help="Put all rows in this split.",
            show_default="the split column, else the names of several files, else --ratios",
        ),
    ] = None,
    split_way: Annotated[
        Literal["auto", "components", "pairs", "stratified", "groups"] | None,
        typer.Option(
            help="How rows without a split are dealt: so that no sentence is in two splits (components), no pair "
            "(pairs), with equal scores (stratified), or whole groups.",
            show_default="components where --ratios can be met, else pairs",
        ),
    ] = None,
    ratios: Annotated[
        str | None,
        typer.Option(
            metavar="TRAIN:DEV:TEST",
            help="How many of the rows without a split each gets.",
            show_default="80:10:10",
        ),
    ] = None,
    group_split: Annotated[
        list[str] | None,
        typer.Option(
            metavar="GROUP=SPLIT",
            help="Put a whole group in this split; once per group, with --split-way groups.",
            show_default=False,
        ),
    ] = None,
    leaks: Annotated[
        Literal["keep", "pairs", "sentences"],
        typer.Option(
            help="Rows of train and dev that share a pair, or a sentence, with a later split: keep, or leave out."
        ),
    ] = "keep",
    repeats: Annotated[
        Literal["keep", "mean", "first", "drop"],
        typer.Option(help="What to do with pairs that occur more than once."),
    ] = "keep",
    seed: Annotated[
        int, typer.Option(min=0, max=2**31 - 1, help="Seed of splits and subsamples.")
    ] = 42,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would come in; write nothing.")
    ] = False,
    rejects: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write the rows that cannot be used to this new CSV file.",
            show_default=False,
        ),
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write all that --json prints to this new file.",
            show_default=False,
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Read files into a project, which is made when there is none of that name."""
    from augsbert_core.cli.import_report import new_files

    if project is None and not dry_run:
        raise typer.BadParameter(
            "name the project. Only --dry-run needs none.", param_hint="'--project' / '-p'"
        )
    rejects, report = new_files(rejects, report)
    told: dict[str, Any] = {
        "kind": kind,
        "encoding": encoding,
        "delimiter": delimiter,
        "header": header,
        "quoting": quoting,
        "sheet": sheet,
        "task": task,
        "columns": tuple(name.strip() for name in columns.split(",")) if columns else None,
        "split_column": split_column,
        "group_column": group_column,
        "id_column": id_column,
        "score_range": _score_range(score_range, task),
        "labels": _labels(label),
        "limit": limit,
        "subsample": subsample,
        "split": split,
        "split_way": split_way,
        "ratios": _ratios(ratios) if ratios else None,
        "group_splits": tuple(group_split) if group_split else None,
        "leaks": leaks,
        "repeats": repeats,
        "seed": seed,
    }
    options = ImportOptions(**{name: value for name, value in told.items() if value is not None})
    # Whoever says how rows are dealt does not want the file names to say it.
    by_name = not (split or split_way or ratios or group_split or split_column)
    try:
        plan, done = carry_out(
            context, files, project, options, by_name=by_name, dry_run=dry_run, quiet=as_json
        )
    except KeyboardInterrupt:
        # Typer would end here without a word.
        raise Stopped("Cancelled.") from None
    _tell(plan, done, project, rejects, report, as_json=as_json)


def _tell(
    plan: "ImportPlan",
    done: "ImportReport | None",
    project: str | None,
    rejects: Path | None,
    report: Path | None,
    *,
    as_json: bool,
) -> None:
    """Print what came in, or would, and write the files that were asked for."""
    from augsbert_core.cli.import_report import as_record, json_bytes, lines_for_people, rejects_csv
    from augsbert_core.exporting.files import Entry, write_file

    record = as_record(plan, done, project) if as_json or report else {}
    lines = [] if as_json else lines_for_people(plan, done, project, hint=rejects is None)
    makers = ((rejects, lambda: rejects_csv(plan)), (report, lambda: json_bytes(record)))
    for target, make in makers:
        if target is not None:
            try:
                write_file(Entry(target.name, make()), target)
            except WorkbenchError as error:
                came = " The rows have come in all the same." if done else ""
                raise WorkbenchError(f"{error}{came}") from error
            lines.append(f"{target} is written.")
    show(record, lines, as_json=as_json)


def _score_range(text: str | None, task: str | None) -> tuple[float, float] | None:
    from augsbert_core.pairs import ScoreRange

    if text is None:
        return (0.0, 1.0) if task == "classification" else None
    try:
        scale = ScoreRange.parse(text)
    except WorkbenchError as error:
        raise typer.BadParameter(str(error)) from None
    return scale.low, scale.high


def _labels(told: list[str] | None) -> tuple[str, ...] | None:
    from augsbert_core.importing.scores import read_labels

    try:
        read_labels(told or ())
    except WorkbenchError as error:
        raise typer.BadParameter(str(error)) from None
    return tuple(told) if told else None


def _ratios(text: str) -> tuple[float, float, float]:
    try:
        train, dev, test = (float(part) for part in text.split(":"))
    except ValueError:
        raise typer.BadParameter(
            f"Ratios {text!r} were not understood. Write three numbers, for example 80:10:10."
        ) from None
    return train, dev, test
