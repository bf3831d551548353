"""Rerankers judged on the Compare page, and mined negatives on the Sample page."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
import streamlit as st

from augsbert_core import explain
from augsbert_core.exporting.files import to_csv
from augsbert_core.options import BUNDLED_MODEL, NegativesOptions, RerankOptions, from_json
from augsbert_core.steps.mine_negatives import warn_about
from augsbert_core.steps.names import source_label
from augsbert_core.storage import gold
from augsbert_core.storage.records import Project, Run
from augsbert_core.storage.runs import list_runs, runs_with_model
from augsbert_core.ui.bench import Bench
from augsbert_core.ui.job_panel import job_panel, launch
from augsbert_core.ui.last_job import needs_a_look
from augsbert_core.ui.recipes import device_input, keep, whole
from augsbert_core.ui.what_happened import what_happened
from augsbert_core.ui.widgets import as_text, empty_state, time_text

RERANK = RerankOptions(())
NEGATIVES = NegativesOptions()
SPLITS = ("test", "dev", "train")


def rerank_panel(bench: Bench, project: Project) -> None:
    """An expander that judges cross-encoders as rerankers and shows the last result."""
    panel = st.expander(
        "Cross-encoders as rerankers",
        icon=":material/sort:",
        key="rerank-panel",
        on_change="rerun",
    )
    if not panel.open:
        return
    with panel:
        st.markdown(
            "Each query gets a fixed list of candidates from the first stage; a cross-encoder puts them in a new "
            "order. nDCG@10 takes gold scores as gains. Queries are first sentences of gold pairs with a relevant "
            "partner, candidates are all other sentences of the split."
        )
        labelers = runs_with_model(bench.workspace, project.id, "train-cross-encoder")
        if not labelers:
            empty_state(
                "There is no cross-encoder to judge yet. Train one first.",
                page="cross_encoder",
                label="Train a cross-encoder",
            )
            return
        options = _rerank_inputs(bench, project, labelers)
        if st.button(
            "Judge",
            type="primary",
            disabled=not options.rerankers,
            key="rerank-start",
            help="Queues a job that reranks the same candidates with each of them.",
        ):
            launch(bench, "rerank", options)
        if needs_a_look(bench, "rerank"):
            job_panel(bench, ["rerank"])
        judged = list_runs(bench.workspace, project.id, "rerank")
        if judged:
            _show_ranking(bench, project, judged[0])


def _rerank_inputs(bench: Bench, project: Project, labelers: Sequence[Run]) -> RerankOptions:
    names = _names(labelers)
    left, middle, right = st.columns(3)
    with left:
        chosen = st.multiselect(
            "Cross-encoders",
            list(names),
            default=list(names)[:1],
            format_func=lambda name: names.get(name, name.removeprefix("model:")),
            key=f"rerank-{project.id}-models-{labelers[0].id}",
            help="Each gets a row beside the order of the first stage, which it should beat.",
        )
        split = st.selectbox(
            "Measured on",
            SPLITS,
            help="Whose gold pairs say what is relevant: test for a final number, dev to choose among rerankers.",
            **keep("rerank", project, "split", "test"),
        )
    with middle:
        first = source_input(bench, project, "rerank", "First stage")
        depth = whole(
            "Candidates per query", 1, 1000, 10,
            "As many as will be reranked in deployment: the result depends on it.",
            **keep("rerank", project, "depth", RERANK.depth),
        )  # fmt: skip
    with right:
        relevant = _score_input(
            project,
            "rerank",
            "Relevant from",
            RERANK.relevant_from,
            "A gold pair scored so is right.",
        )
        device = device_input("rerank", project)
    return RerankOptions(
        rerankers=tuple(chosen),
        first_stage=first,
        depth=depth,
        relevant_from=relevant,
        split=split,
        device=device,
    )


def _show_ranking(bench: Bench, project: Project, run: Run) -> None:
    told = from_json(RerankOptions, run.options)
    rows = [_ranking_row(row) for row in run.metrics.get("rows", [])]
    st.dataframe(
        pd.DataFrame(rows),
        hide_index=True,
        placeholder="–",
        column_config={
            name: st.column_config.NumberColumn(f"{name} × 100", format="%.1f")
            for name in ("nDCG@10", "To first stage", "MRR", "Recall")
        },
        alt="Results of retrieval and re-ranking",
    )
    counts = (
        f"{run.metrics.get('n_queries', 0):,} queries of the {told.split} split, {told.depth} candidates each from "
        f"{source_label(told.first_stage)}; {time_text(run.finished_at)}. Intervals: 95 %, bootstrap over queries."
    )
    st.caption(as_text(counts))
    if run.metrics.get("data_hash") != gold.data_hash(
        gold.scored_pairs(bench.workspace, project.id, told.split)
    ):
        st.warning("The gold pairs have changed since. Judge again.", icon=":material/warning:")
    for notice in run.metrics.get("notices", []):
        st.caption(f":material/info: {as_text(notice)}")
    what_happened(explained(run.metrics, told.depth), "rerank")
    st.download_button(
        "CSV",
        to_csv(list(rows[0]), (list(row.values()) for row in rows)) if rows else b"",
        file_name="rerankers.csv",
        mime="text/csv",
        icon=":material/download:",
        on_click="ignore",
        key="rerank-csv",
        help="The table above, for a spreadsheet or a paper.",
    )


def explained(found: Mapping[str, Any], depth: int) -> tuple[str, ...]:
    """What reranking has brought, in plain sentences. found: the metrics of the run."""
    rows = found.get("rows") or []
    trained = [row for row in rows if row["kind"] == "reranker" and row.get("ndcg") is not None]
    best: Mapping[str, Any] = max(trained, key=lambda row: float(row["ndcg"]), default={})
    return explain.reranked(
        n_queries=int(found.get("n_queries") or 0),
        depth=depth,
        recall=next((row["recall"] for row in rows if row.get("recall") is not None), None),
        difference=best.get("difference"),
        low=best.get("difference_low"),
        high=best.get("difference_high"),
    )


def _ranking_row(row: Mapping[str, Any]) -> dict[str, Any]:
    def value(name: str) -> float | None:
        return None if row.get(name) is None else round(100 * row[name], 2)

    def between(low: str, high: str) -> str:
        return "" if row.get(low) is None else f"{value(low):.1f} to {value(high):.1f}"

    return {
        "Order by": source_label(row["target"]),
        "Kind": row["kind"],
        "nDCG@10": value("ndcg"),
        "95 %": between("ndcg_low", "ndcg_high"),
        "To first stage": value("difference"),
        "95 % of that": between("difference_low", "difference_high"),
        "MRR": value("mrr"),
        "Recall": value("recall"),
    }


def negatives_panel(bench: Bench, project: Project) -> None:
    """An expander that mines negatives for training elsewhere, and offers the last ones for download."""
    panel = st.expander(
        "Mine negatives for training elsewhere",
        icon=":material/do_not_disturb_on:",
        key="negatives-panel",
        on_change="rerun",
    )
    if not panel.open:
        return
    with panel:
        st.markdown(
            "Queries with their gold positives and, for each positive, near sentences that are none: what rerankers "
            "and retrievers are trained on. No gold positive is ever a negative, and a labeler can leave out what "
            "it takes for one."
        )
        options = _negative_inputs(bench, project)
        if warning := warn_about(options):
            st.warning(as_text(warning), icon=":material/warning:")
        if st.button(
            "Mine negatives",
            type="primary",
            key="negatives-start",
            help="Queues a job that writes a file to train on; gold and silver stay as they are.",
        ):
            launch(bench, "mine-negatives", options)
        if needs_a_look(bench, "mine-negatives"):
            job_panel(bench, ["mine-negatives"])
        mined = list_runs(bench.workspace, project.id, "mine-negatives")
        if mined:
            _show_negatives(bench, mined[0])


def _negative_inputs(bench: Bench, project: Project) -> NegativesOptions:
    labelers = _names(runs_with_model(bench.workspace, project.id, "train-cross-encoder"))
    left, middle, right = st.columns(3)
    with left:
        source = source_input(bench, project, "negatives", "Near sentences by")
        per_positive = whole(
            "Negatives per positive", 1, 100, 1, "Four are usual.",
            **keep("negatives", project, "per-positive", NEGATIVES.per_positive),
        )  # fmt: skip
    with middle:
        labeler = st.selectbox(
            "Labeler that checks them",
            ["", *labelers],
            index=min(len(labelers), 1),
            format_func=lambda name: labelers.get(name, name) or "None",
            accept_new_options=True,
            key=f"negatives-{project.id}-labeler-{next(iter(labelers), '')}",
            help="Leaves out what it scores as similar: a near sentence may be a positive that nobody has marked. "
            "None trusts gold alone.",
        )
        positive = _score_input(
            project, "negatives", "Positive from", NEGATIVES.positive_from, "Gold pairs scored so."
        )
    with right:
        device = device_input("negatives", project)
        negative = _score_input(
            project,
            "negatives",
            "Negative below",
            NEGATIVES.negative_below,
            "Neither gold nor the labeler may score a negative so high.",
        )
    return NegativesOptions(
        source=source,
        labeler=labeler or "",
        per_positive=per_positive,
        positive_from=positive,
        negative_below=negative,
        device=device,
    )


def _show_negatives(bench: Bench, run: Run) -> None:
    found = run.metrics
    st.markdown(
        f"**{found.get('n_queries', 0):,} queries**, {found.get('n_positives', 0):,} positives, "
        f"{found.get('n_negatives', 0):,} negatives; {as_text(run.name)}, {as_text(time_text(run.finished_at))}."
    )
    for notice in found.get("notices", []):
        st.caption(f":material/info: {as_text(notice)}")
    with st.container(horizontal=True):
        for kind, mime, what, why in (
            (
                "jsonl",
                "application/jsonl",
                "JSON lines, one per query",
                "Each query with all its positives and negatives, for training scripts.",
            ),
            (
                "csv",
                "text/csv",
                "CSV, one row per positive",
                "Each positive with its negatives beside it, to be looked at in a spreadsheet.",
            ),
        ):
            path = bench.workspace.home / str(found.get(kind, ""))
            if path.is_file():
                st.download_button(
                    what,
                    path.read_bytes,
                    file_name=f"negatives-run-{run.id}.{kind}",
                    mime=mime,
                    icon=":material/download:",
                    on_click="ignore",
                    key=f"negatives-{kind}",
                    help=why,
                )


def source_input(bench: Bench, project: Project, page: str, label: str) -> str:
    """Choose what finds near sentences: BM25, a trained bi-encoder, or one by name."""
    encoders = _names(runs_with_model(bench.workspace, project.id, "train-bi-encoder"))
    names = {"bm25": "BM25", **encoders, f"model:{BUNDLED_MODEL}": "Untrained all-MiniLM-L6-v2"}
    return st.selectbox(
        label,
        list(names),
        format_func=names.__getitem__,
        key=f"{page}-{project.id}-source-{next(iter(encoders), '')}",
        help="What brings near sentences for each query: BM25 by shared words, a bi-encoder by meaning.",
    )


def _score_input(project: Project, page: str, label: str, unit: float, help_text: str) -> float:
    """A score on the project's scale; returns it in [0, 1]."""
    scale = project.score_range
    raw = st.number_input(
        label,
        scale.low,
        scale.high,
        step=(scale.high - scale.low) / 20,
        format="%.2f",
        help=help_text,
        **keep(page, project, label, round(scale.to_raw(unit), 4)),
    )
    return scale.to_unit(float(raw if raw is not None else scale.to_raw(unit)))


def _names(found: Sequence[Run]) -> dict[str, str]:
    return {f"run:{run.id}": f"Run {run.id} · {run.name}" for run in found}
