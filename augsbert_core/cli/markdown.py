"""The compare table as text: cells for a terminal, and Markdown for documents."""

from typing import Any

COLUMNS = {
    "name": "model", "value": "score", "interval": "95 % interval", "difference": "Δ gold-only",
    "difference_interval": "95 % interval", "p": "p", "n_gold": "gold", "n_silver": "silver", "passes": "passes",
    "n_steps": "steps", "seconds": "seconds", "n_seeds": "seeds",
}  # fmt: skip
METRICS = {"spearman": "Spearman", "f1": "F1"}


def as_cells(row: dict[str, Any]) -> dict[str, str]:
    """One row of `Grouped.as_json` as text: scores times 100, mean ± standard deviation between seeds."""
    counts = {name: f"{row[name]:,}" for name in ("n_gold", "n_silver", "passes", "n_steps")}
    return {
        "name": row["name"],
        "value": _score(row),
        "interval": _range(row["low"], row["high"], ".1f"),
        "difference": "" if row["difference"] is None else f"{100 * row['difference']:+.1f}",
        "difference_interval": _range(row["difference_low"], row["difference_high"], "+.1f"),
        "p": _p(row["p"]),
        **counts,
        "seconds": "" if row["seconds"] is None else f"{row['seconds']:.0f}",
        "n_seeds": f"{row['n_seeds']}" if row["runs"] else "",
        "why_not": row["why_not"],
    }


def as_markdown(table: dict[str, Any]) -> str:
    """The compare table of `augsbert compare --json` with its verdicts, as Markdown."""
    metric = METRICS.get(table["metric"], table["metric"])
    lines = [
        f"{table['n_pairs']:,} {table['split']} pairs, {metric} × 100, mean ± standard deviation over seeds, 95 % "
        "bootstrap intervals; Δ: against the gold-only row of as many steps, or the one that its verdict names.",
        "",
        "| " + " | ".join(COLUMNS.values()) + " |",
        "|---|" + "---:|" * (len(COLUMNS) - 1),
    ]
    for row in table["groups"]:
        cells = as_cells(row)
        if not row["comparable"]:
            cells["name"] += f" (not comparable: {row['why_not']})"
        lines.append("| " + " | ".join(_escaped(cells[name]) for name in COLUMNS) + " |")
    verdicts = [f"> {verdict['sentence']}" for verdict in table["verdicts"]]
    return "\n".join([*lines, "", "\n>\n".join(verdicts)])


def _score(row: dict[str, Any]) -> str:
    if row["value"] is None:
        return "undefined"
    spread = "" if row["sd"] is None else f" ± {100 * row['sd']:.1f}"
    return f"{100 * row['value']:.1f}{spread}"


def _range(low: float | None, high: float | None, shape: str) -> str:
    return "" if low is None or high is None else f"{100 * low:{shape}} to {100 * high:{shape}}"


def _p(p: float | None) -> str:
    if p is None:
        return ""
    return "< 0.001" if p < 0.001 else f"{p:.2g}" if p < 0.1 else f"{p:.2f}"


def _escaped(cell: str) -> str:
    return cell.replace("|", "\\|")
