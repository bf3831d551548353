"""Import: choose, look before anything is written, import, and read the report."""

from collections.abc import Sequence
from functools import partial

import streamlit as st

from augsbert_core.errors import WorkbenchError
from augsbert_core.explain.phrases import many
from augsbert_core.options import ImportedFile, ImportFilesOptions, ImportOptions, to_json
from augsbert_core.steps.import_data import SourceFile, import_files, refuse_known_files
from augsbert_core.storage.gold import split_keys
from augsbert_core.storage.projects import count_project
from augsbert_core.storage.queue import list_jobs
from augsbert_core.storage.records import Job, Project, Run
from augsbert_core.storage.runs import get_run, import_mark
from augsbert_core.storage.uploads import keep_upload
from augsbert_core.ui.bench import Bench
from augsbert_core.ui.import_options import choose_options
from augsbert_core.ui.import_plans import is_large, plan_of
from augsbert_core.ui.import_preview import show_plan, show_raw, show_stored
from augsbert_core.ui.import_report import Report, show_report
from augsbert_core.ui.import_sources import Source, choose_sources, forget_sources
from augsbert_core.ui.import_splits import choose_leaks
from augsbert_core.ui.job_panel import job_panel, launch
from augsbert_core.ui.last_job import needs_a_look
from augsbert_core.ui.widgets import as_text, bar_report, flash, user_errors

STEP = "import-files"
BEGUN_AFTER = "import-begun-after"
"""Where the session keeps the number of the last job before its own background import."""

EXAMPLES = {
    "pairs": "A man plays a guitar.\tSomeone is playing music.\t3.4\nThe cat sleeps.\tIt rains.\t0",
    "sentences": "How do I reset my password?\nThe parcel arrived a day late.",
    "unlabelled-pairs": "How do I reset my password?\tI forgot my password.",
    "nli": "A man plays a guitar.\tSomeone makes music.\tentailment\n"
    "A man plays a guitar.\tThe man sleeps.\tcontradiction",
    "triplets": "A man plays a guitar.\tSomeone makes music.\tA man eats a pear.",
}
NOUNS = {
    "pairs": "gold pair",
    "sentences": "sentence",
    "unlabelled-pairs": "candidate pair",
    "nli": "NLI pair",
    "triplets": "triplet",
}
KINDS_WITHOUT_SCORES = {
    "sentences": "Sentences",
    "unlabelled-pairs": "Pairs without scores",
    "nli": "NLI pairs",
    "triplets": "Triplets",
}
OF_SAMPLE = ("sentences", "unlabelled-pairs")
WHAT_FOR = {
    "sentences": "More sentences to draw candidate pairs from, for example of a new domain.",
    "unlabelled-pairs": "Pairs of your own choice become a candidate set, ready to be labelled.",
    "nli": "A premise, a hypothesis, and whether the one entails or contradicts the other or neither; a "
    "recipe of the bi-encoder can begin with them, and nothing is sampled from them.",
    "triplets": "An anchor, a sentence close to it and one that is not; a recipe of the bi-encoder can begin "
    "with them, and nothing is sampled from them.",
}
"""Kind of content → its name and use, for the tab of text without scores."""


def import_panel(bench: Bench, project: Project, kind: str, place: str = "gold") -> None:
    """Everything needed to import one kind of content, from the choice of files to the import.

    place: the page; on "gold", an import ends on the tab that shows what came in.
    """
    if needs_a_look(bench, STEP):
        job_panel(bench, [STEP])
    sources = choose_sources(kind, EXAMPLES[kind])
    if not sources:
        return
    large = is_large(sources)
    has_gold = count_project(bench.workspace, project.id).gold > 0
    with user_errors():
        choices = choose_options(sources, kind, project if has_gold else None, large)
        if choices is None:
            return
        with choices.place:
            show_raw(choices.table, choices.titles)
        if choices.options is None:
            return
        try:
            mark = f"{project.id} {import_mark(bench.workspace, project.id)}"
            read_held = partial(split_keys, bench.workspace, project.id)
            is_gold = has_gold and kind == "pairs"
            plan = plan_of(sources, choices.options, large, mark, read_held if is_gold else dict)
        except WorkbenchError:
            if choices.options[0].leaks != "keep":
                choose_leaks(choices.prefix)  # so that it can be taken back
            raise
        with choices.place:
            show_stored(plan, choices.shown, len(sources))
        show_plan(plan, prefix=choices.prefix, head_only=large)
        if not large:
            refuse_known_files(bench.workspace, project.id, plan)
        if large:
            _offer_job(bench, sources, choices.options, kind, place)
        elif st.button(
            f"Import {many(plan.n_kept, NOUNS[kind])}",
            type="primary",
            icon=":material/download_done:",
            key=f"{kind}-import",
            help="Writes what the preview shows, all or nothing; the tab Imports of the Gold page can take it "
            "back.",
        ):
            _import(bench, project, sources, choices.options, kind, place)


def import_without_scores(
    bench: Bench, project: Project, kinds: Sequence[str], place: str = "gold"
) -> None:
    """Import text of one of these kinds, which the user picks."""
    kind = st.segmented_control(
        "What is in the file?",
        kinds,
        default=kinds[0],
        required=True,
        format_func=KINDS_WITHOUT_SCORES.__getitem__,
        key=f"{place}-unlabelled-kind",
        persist_state="session",
        help="What one row holds; none of these has a score.",
    )
    st.markdown(WHAT_FOR[str(kind)])
    import_panel(bench, project, str(kind), place)


def bring_your_own(bench: Bench, project: Project, *, open_at_first: bool) -> None:
    """On page Sample: sentences to sample from, or pairs that are candidates already."""
    with st.container(key="bring-your-own"):
        show_reports(bench)
        panel = st.expander(
            "Bring your own sentences or pairs",
            icon=":material/upload_file:",
            expanded=open_at_first,
            key="bring-your-own-panel",
            on_change="rerun",
        )
        if panel.open:
            with panel:
                import_without_scores(bench, project, OF_SAMPLE, "sample")


def _import(
    bench: Bench,
    project: Project,
    sources: Sequence[Source],
    options: Sequence[ImportOptions],
    kind: str,
    place: str,
) -> None:
    """Import in the page, while the user waits: all files, or none."""
    bar = st.progress(0.0, text="Reading")
    try:
        done = import_files(
            bench.workspace,
            project.id,
            [
                SourceFile(source.name, source.data, told)
                for source, told in zip(sources, options, strict=True)
            ],
            bar_report(bar),
        )
    finally:
        bar.empty()
    st.session_state["import-report"] = [file.run_id for file in done.files]
    forget_sources(kind)
    flash(f"Imported {many(done.pairs_kept, NOUNS[kind])}")
    if place == "gold":
        st.session_state["gold-tab-next"] = "Imports"
    st.rerun()


def _offer_job(
    bench: Bench,
    sources: Sequence[Source],
    options: Sequence[ImportOptions],
    kind: str,
    place: str,
) -> None:
    """Large files come in as a background job, which can be cancelled and leaves other pages free."""
    if not st.button(
        f"Import {many(len(sources), 'file')} in the background",
        type="primary",
        icon=":material/download_done:",
        key=f"{kind}-import",
        help="Reads the whole files as a job: all rows come in, or, when it is cancelled, none.",
    ):
        return
    home = bench.workspace.home
    with st.spinner("Keeping the files for the job"):
        files = tuple(
            ImportedFile(
                keep_upload(bench.workspace, source.name, source.data).relative_to(home).as_posix(),
                source.name,
                to_json(told),
            )
            for source, told in zip(sources, options, strict=True)
        )
    forget_sources(kind)
    st.session_state.pop("import-report", None)
    st.session_state[BEGUN_AFTER] = _number_of_last_job(bench)
    if place == "gold":
        st.session_state["gold-tab-next"] = "Imports"
    launch(bench, STEP, ImportFilesOptions(files, seed=options[0].seed))


def show_reports(bench: Bench, *, whole: bool = True) -> None:
    """What the last import of this session brought in, until it is put away. whole: the report, not a line alone."""
    runs = _reported(bench)
    if not runs:
        return
    with st.container(border=True, gap="small", key="import-report-panel"):
        with st.container(horizontal=True, vertical_alignment="center"):
            names = ", ".join(as_text(run.name) for run in runs[:4])
            more = f" and {len(runs) - 4} more" if len(runs) > 4 else ""
            where = "" if whole else " The report is in the tab Imports."
            st.markdown(
                f":green[:material/check_circle:] **Imported** {names}{more}: {Report.of(runs).summary}.{where}",
                width="stretch",
            )
            if st.button(
                "Put away",
                type="tertiary",
                icon=":material/close:",
                help="Hides this report; the tab Imports of the Gold page keeps it.",
            ):
                st.session_state.pop("import-report", None)
                st.session_state.pop(BEGUN_AFTER, None)
                st.rerun()
        if whole:
            show_report(bench, runs, "report")


def _reported(bench: Bench) -> list[Run]:
    """The runs to report on; none when they were removed, or belong to another project."""
    run_ids = st.session_state.get("import-report") or _of_last_job(bench)
    try:
        runs = [get_run(bench.workspace, run_id) for run_id in run_ids]
    except WorkbenchError:
        return []
    project_id = bench.project.id if bench.project else None
    return [run for run in runs if run.project_id == project_id]


def _last_job(bench: Bench) -> Job | None:
    project_id = bench.project.id if bench.project else None
    jobs = list_jobs(bench.workspace, project_id)
    return next((job for job in jobs if job.step == STEP), None)


def _number_of_last_job(bench: Bench) -> int:
    job = _last_job(bench)
    return job.id if job else 0


def _of_last_job(bench: Bench) -> list[int]:
    """The imports of a background import that this session has begun."""
    after = st.session_state.get(BEGUN_AFTER)
    job = _last_job(bench)
    if after is None or job is None or job.id <= after or job.state != "done":
        return []
    found = get_run(bench.workspace, job.run_id).metrics.get("import_run_ids")
    return [int(run_id) for run_id in found] if isinstance(found, list) else []
