"""What an import has brought in: read from its runs, so that it can be looked at for as long as they are there."""

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from augsbert_core import explain
from augsbert_core.charts.imports import imported_scores_figure, lengths_figure
from augsbert_core.explain.phrases import many
from augsbert_core.exporting.files import rejected_csv
from augsbert_core.importing.leaks import Leak
from augsbert_core.importing.overview import LENGTH_EDGES
from augsbert_core.importing.rows import Rejected
from augsbert_core.options.training import BiEncoderOptions
from augsbert_core.pairs import SPLITS, ScoreRange
from augsbert_core.storage.database import Workspace
from augsbert_core.storage.records import Run
from augsbert_core.storage.rejects import import_rejects
from augsbert_core.ui.bench import Bench
from augsbert_core.ui.downloads import file_stem
from augsbert_core.ui.figures import draw
from augsbert_core.ui.import_preview import SHOWN_REJECTS, repeats_words, show_leaks
from augsbert_core.ui.what_happened import what_happened
from augsbert_core.ui.widgets import as_text

TOKENS_PER_WORD = 1.3
"""What WordPiece makes of English on average; other languages have more."""

PLOT = {"displayModeBar": False}
SHOWN_NOTES = 12


@dataclass(frozen=True)
class Report:
    """The runs of files that came in together, as one. joint: what is about all of them; {} for old imports."""

    runs: tuple[Run, ...]
    joint: dict[str, Any]

    @classmethod
    def of(cls, runs: Sequence[Run]) -> "Report":
        """The report of these runs, which were one import."""
        return cls(tuple(runs), dict(runs[0].metrics.get("joint") or {}))

    def total(self, name: str) -> int:
        """The sum of a number over the files; 0 where old imports lack it."""
        found = [run.metrics.get(name) for run in self.runs]
        return sum(value for value in found if isinstance(value, int))

    @property
    def summary(self) -> str:
        """The numbers in one line."""
        return (
            f"{many(self.total('rows_read'), 'row')} read, {self.total('pairs_kept'):,} kept, "
            f"{self.total('rejected'):,} rejected"
        )

    @property
    def kind(self) -> str:
        return str(self.runs[0].metrics.get("kind") or "pairs")

    @property
    def splits(self) -> dict[str, int]:
        """Rows by split."""
        total: Counter[str] = Counter()
        for run in self.runs:
            total.update(run.metrics.get("splits") or {})
        return {split: total[split] for split in SPLITS if total[split]}

    @property
    def notes(self) -> list[str]:
        """What was found out and mended, each sentence once."""
        every = [str(note) for run in self.runs for note in run.metrics.get("notes") or []]
        return list(dict.fromkeys(every))

    @property
    def score_range(self) -> ScoreRange | None:
        told = json.loads(self.runs[0].options).get("score_range")
        return ScoreRange(*told) if told else None


def reasons_of(rejected: Iterable[Rejected]) -> list[tuple[str, int, list[int]]]:
    """(reason without the value, rows, their first lines), commonest first."""
    counts: Counter[str] = Counter()
    lines: dict[str, list[int]] = {}
    for row in rejected:
        reason = row.reason.partition(":")[0]
        counts[reason] += 1
        if len(first := lines.setdefault(reason, [])) < 10:
            first.append(row.line)
    return [(reason, count, lines[reason]) for reason, count in counts.most_common()]


def show_report(bench: Bench, runs: Sequence[Run], key: str) -> None:
    """The whole report of an import: numbers, rejected rows, histograms, repeated sentences, leaks."""
    report = Report.of(runs)
    _numbers(report)
    if report.kind == "pairs" and report.splits:
        shares = " · ".join(f"{report.splits.get(split, 0):,} {split}" for split in SPLITS)
        st.markdown(f":material/call_split: {shares}")
    _files(report)
    _figures(report)
    if leaks := report.joint.get("leaks"):
        show_leaks([Leak(**leak) for leak in leaks])
    _rejected(bench.workspace, report, key)
    _repeated(report, key)
    _notes(report)
    what_happened(
        explain.imported(
            kind=report.kind,
            n_read=report.total("rows_read"),
            n_kept=report.total("pairs_kept"),
            n_rejected=report.total("rejected"),
            n_others=sum(
                int(report.joint.get(name) or 0) for name in ("collapsed", "left_out", "leaked")
            ),
        ),
        key,
    )
    st.download_button(
        "The report as JSON",
        partial(report_json, bench.workspace, runs),
        file_name=f"import-{file_stem(runs[0].name)}.json",
        mime="application/json",
        icon=":material/data_object:",
        key=f"{key}-json",
        on_click="ignore",
        help="Every number above, the options, and the rejected rows counted by reason.",
    )


def _numbers(report: Report) -> None:
    repeats = report.joint.get("repeats") or {}
    with st.container(horizontal=True):
        st.metric("Rows read", f"{report.total('rows_read'):,}", border=True)
        st.metric("Kept", f"{report.total('pairs_kept'):,}", border=True)
        st.metric("Rejected", f"{report.total('rejected'):,}", border=True)
        for label, name in (
            ("Merged or dropped", "collapsed"),
            ("Not in the subsample", "left_out"),
            ("Left out as leaks", "leaked"),
        ):
            if count := report.joint.get(name):
                st.metric(label, f"{count:,}", border=True)
    if told := repeats_words(repeats):
        handled = "Before they were merged or left out: " if report.joint.get("collapsed") else ""
        st.markdown(f":material/info: {handled}{told}")


def _files(report: Report) -> None:
    if len(report.runs) == 1:
        return
    st.dataframe(
        pd.DataFrame(
            {
                "File": run.name,
                "Rows read": run.metrics.get("rows_read"),
                "Kept": run.metrics.get("pairs_kept"),
                "Rejected": run.metrics.get("rejected"),
                **{
                    split.capitalize(): (run.metrics.get("splits") or {}).get(split, 0)
                    for split in report.splits
                },
            }
            for run in report.runs
        ),
        hide_index=True,
        height="content",
        alt="Files of this import",
    )


def _figures(report: Report) -> None:
    overview = report.joint.get("overview") or {}
    lengths, scores, scale = overview.get("lengths"), overview.get("scores"), report.score_range
    if not lengths:
        return
    key = f"import-{report.runs[0].id}"
    left, right = st.columns(2, gap="medium")
    if scores and scale is not None:
        with left:
            st.markdown("**Scores**")
            draw(
                imported_scores_figure(scores, scale),
                key=f"{key}-scores",
                config=PLOT,
                alt="How many imported pairs have which score",
            )
    else:
        right = left
    limit = BiEncoderOptions().max_length
    long_from = next((edge for edge in LENGTH_EDGES if edge * TOKENS_PER_WORD > limit), None)
    with right:
        st.markdown("**Lengths**")
        draw(
            lengths_figure(lengths, LENGTH_EDGES, long_from),
            key=f"{key}-lengths",
            config=PLOT,
            alt="How many sentences have how many words",
        )
        st.caption(length_words(lengths, int(overview.get("longest") or 0), limit))


def length_words(lengths: Sequence[int], longest: int, limit: int) -> str:
    """Whether sentences are likely longer than models read. lengths: sentences per part of LENGTH_EDGES."""
    long_from = next((edge for edge in LENGTH_EDGES if edge * TOKENS_PER_WORD > limit), None)
    n_long = sum(
        count
        for edge, count in zip(LENGTH_EDGES, lengths, strict=False)
        if long_from is not None and edge >= long_from
    )
    told = f"The longest has {many(longest, 'word')}."
    if not n_long:
        return f"{told} None seems longer than the {limit} tokens that models read unless told otherwise (an estimate)."
    return (
        f":material/warning: {told} {many(n_long, 'sentence')} of {long_from} words or more "
        f"{'is' if n_long == 1 else 'are'} likely longer than "
        f"the {limit} tokens that models read unless told otherwise: what is beyond is cut off. An estimate of "
        f"{TOKENS_PER_WORD:g} tokens a word; set the tokens in training."
    )


def _rejected(workspace: Workspace, report: Report, key: str) -> None:
    n_rejected = report.total("rejected")
    if not n_rejected:
        return
    rows = [(run.name, row) for run in report.runs for row in import_rejects(workspace, run.id)]
    with st.container(border=True, gap="xsmall"):
        st.markdown(f":material/block: **{many(n_rejected, 'rejected row')}**")
        if not rows:
            st.caption("This import was made before rejected rows were kept.")
            return
        st.dataframe(
            pd.DataFrame(
                {
                    "Reason": reason,
                    "Rows": count,
                    "Lines": ", ".join(f"{line}" for line in lines)
                    + (", …" if count > len(lines) else ""),
                }
                for reason, count, lines in reasons_of(row for _, row in rows)
            ),
            hide_index=True,
            height="content",
            alt="Reasons for rejected rows",
        )
        several = len(report.runs) > 1
        with st.expander("The rows", icon=":material/list:"):
            st.dataframe(
                pd.DataFrame(
                    {
                        **({"File": name} if several else {}),
                        "Line": row.line,
                        "Reason": row.reason,
                        "Row": row.text,
                    }
                    for name, row in rows[:SHOWN_REJECTS]
                ),
                hide_index=True,
                alt="Rejected rows",
            )
            if len(rows) > SHOWN_REJECTS:
                st.caption(f"The first {SHOWN_REJECTS:,} are shown; the file has all of them.")
        for run in report.runs:
            if not run.metrics.get("rejected"):
                continue
            st.download_button(
                f"Rejected rows of {as_text(run.name)} as CSV"
                if several
                else "Rejected rows as CSV",
                partial(_csv_of, workspace, run.id),
                file_name=f"rejected-{file_stem(run.name)}.csv" if several else "rejected-rows.csv",
                mime="text/csv",
                icon=":material/download:",
                key=f"{key}-rejected-{run.id}",
                on_click="ignore",
                help="What was left out, with line and reason, to be mended and imported.",
            )


def _csv_of(workspace: Workspace, run_id: int) -> bytes:
    return rejected_csv(import_rejects(workspace, run_id))


def _repeated(report: Report, key: str) -> None:
    overview = report.joint.get("overview") or {}
    repeated = overview.get("repeated") or []
    if not repeated:
        return
    with st.expander(
        f"Sentences that come up most · {many(int(overview.get('sentences') or 0), 'distinct sentence')} in all",
        icon=":material/repeat:",
        key=f"{key}-repeated",
    ):
        st.dataframe(
            pd.DataFrame(repeated, columns=["Sentence", "Times"]),
            hide_index=True,
            height="content",
            column_config={"Times": st.column_config.NumberColumn(width=70, format="localized")},
            alt="Sentences that occur most often",
        )


def _notes(report: Report) -> None:
    if not report.notes:
        return
    with st.expander(
        f"What was found out and mended: {many(len(report.notes), 'note')}",
        icon=":material/description:",
    ):
        for note in report.notes[:SHOWN_NOTES]:
            st.text(note)
        if len(report.notes) > SHOWN_NOTES:
            st.caption(f"{len(report.notes) - SHOWN_NOTES} more are in the report as JSON.")


def report_json(workspace: Workspace, runs: Sequence[Run]) -> bytes:
    """All that is known about an import as JSON: per file, and what is about all of its files."""
    report = Report.of(runs)
    files = [
        {
            "name": run.name,
            "imported": run.created_at,
            "sha256": run.data_hash,
            "options": json.loads(run.options),
            **{name: value for name, value in run.metrics.items() if name != "joint"},
            "rejected_by_reason": [
                {"reason": reason, "rows": count, "first_lines": lines}
                for reason, count, lines in reasons_of(import_rejects(workspace, run.id))
            ],
        }
        for run in runs
    ]
    told = {"files": files, "joint": report.joint, "length_edges": list(LENGTH_EDGES)}
    return json.dumps(told, ensure_ascii=False, indent=2).encode()
