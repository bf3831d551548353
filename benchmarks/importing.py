"""A file of 400,000 question pairs imported whole, against pandas.read_csv + to_sql of the same file.

    python benchmarks/importing.py [--rows 400000] [--rounds 3] [--json]

The file is made up, of Quora's size and shape (all cells quoted, questions that come up in several pairs). Both sides
write an SQLite file in the same folder; pandas goes before and after each import, and the median of its rounds counts.
The workbench does more in its time: it normalises and numbers the sentences, looks for repeats and leaks, deals the
splits, and builds four indexes. Beside the import, a second process keeps adding a small row to the same database and
reading from it: its longest waits show what other sessions notice. Peak memory is that of the importing process.
"""

import argparse
import csv
import json
import resource
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

GOAL_RATIO, GOAL_MB = 6.0, 1500


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=400_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--import-child", nargs=2, type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--session-child", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.import_child:
        print(json.dumps(import_once(*arguments.import_child)))
        return
    if arguments.session_child:
        print(json.dumps(other_session(arguments.session_child)))
        return
    with tempfile.TemporaryDirectory() as folder:
        result = measure(Path(folder), arguments.rows, arguments.rounds)
    if arguments.json:
        print(json.dumps(result, indent=2))
        return
    print(
        f"{arguments.rows:,} rows, {result['file_mb']:.0f} MB: import {result['import_seconds']:.1f} s, "
        f"pandas {result['pandas_seconds']:.2f} s, ratio {result['ratio']:.1f} (goal {GOAL_RATIO:g}); "
        f"peak memory {result['peak_mb']:.0f} MB (goal {GOAL_MB})"
    )
    print(
        f"another session meanwhile: {result['session_writes']} writes, longest wait "
        f"{result['longest_write_seconds']:.2f} s; {result['session_reads']} reads, longest "
        f"{result['longest_read_seconds']:.2f} s; errors {result['session_errors']}"
    )


def measure(folder: Path, n_rows: int, rounds: int) -> dict[str, object]:
    """Pandas and the import by turns, each import in a process of its own."""
    file = folder / "questions.csv"
    write_questions(file, n_rows)
    pandas_seconds = [pandas_once(file, folder / "warm-up.db")]
    pandas_seconds.clear()
    imports = []
    for number in range(rounds):
        pandas_seconds.append(pandas_once(file, folder / f"pandas-{number}a.db"))
        imports.append(run_child("--import-child", str(file), str(folder / f"home-{number}")))
        pandas_seconds.append(pandas_once(file, folder / f"pandas-{number}b.db"))
    home = folder / "home-shared"
    prepare(home)
    session = start_child("--session-child", str(home))
    time.sleep(1)
    run_child("--import-child", str(file), str(home))
    (home / "stop").touch()
    waits = json.loads(session.communicate(timeout=120)[0])
    best = min(imports, key=lambda found: found["seconds"])
    pandas_typical = statistics.median(pandas_seconds)
    return {
        "rows": n_rows,
        "file_mb": file.stat().st_size / 1e6,
        "import_seconds": best["seconds"],
        "all_import_seconds": [found["seconds"] for found in imports],
        "pandas_seconds": pandas_typical,
        "all_pandas_seconds": pandas_seconds,
        "ratio": best["seconds"] / pandas_typical,
        "peak_mb": max(found["peak_mb"] for found in imports),
        "kept": best["kept"],
        "splits": best["splits"],
        "reports": best["reports"],
        **waits,
    }


def write_questions(file: Path, n_rows: int) -> None:
    """Rows of id, qid1, qid2, question1, question2, is_duplicate; two in three sentences occur once."""
    rng = np.random.default_rng(1)
    rare = [f"word{number}" for number in range(20_000)]
    common = [
        "what",
        "is",
        "the",
        "best",
        "way",
        "to",
        "learn",
        "how",
        "do",
        "i",
        "can",
        "you",
        "why",
        "does",
        "a",
    ]
    n_questions = int(n_rows * 1.34)
    ends = rng.integers(6, 16, n_questions).cumsum()
    places = np.where(
        rng.random(ends[-1]) < 0.5,
        rng.integers(0, len(common), ends[-1]),
        rng.integers(len(common), len(common) + len(rare), ends[-1]),
    )
    words = np.array(common + rare, dtype=object)[places].tolist()
    starts = [0, *ends[:-1].tolist()]
    questions = [
        " ".join(words[start:end]).capitalize() + "?"
        for start, end in zip(starts, ends.tolist(), strict=True)
    ]
    pairs = rng.integers(0, n_questions, (n_rows, 2)).tolist()
    labels = (rng.random(n_rows) < 0.37).astype(int).tolist()
    with file.open("w", newline="", encoding="utf-8") as out:
        writer = csv.writer(out, quoting=csv.QUOTE_ALL)
        writer.writerow(["id", "qid1", "qid2", "question1", "question2", "is_duplicate"])
        writer.writerows(
            [number, first, second, questions[first], questions[second], label]
            for number, ((first, second), label) in enumerate(zip(pairs, labels, strict=True))
        )


def pandas_once(file: Path, database: Path) -> float:
    import pandas as pd

    began = time.perf_counter()
    frame = pd.read_csv(file)
    connection = sqlite3.connect(database)
    frame.to_sql("pairs", connection)
    connection.commit()
    connection.close()
    seconds = time.perf_counter() - began
    database.unlink()
    return seconds


def prepare(home: Path) -> None:
    from augsbert_core.storage.database import open_workspace
    from augsbert_core.storage.projects import create_project

    create_project(open_workspace(home), "Questions")


def import_once(file: Path, home: Path) -> dict[str, object]:
    """One import into a workspace, timed from the file's bytes on the disk to the end of the transaction."""
    from augsbert_core.options import ImportOptions
    from augsbert_core.steps.import_data import import_file
    from augsbert_core.storage.database import open_workspace
    from augsbert_core.storage.projects import create_project, find_project

    workspace = open_workspace(home)
    project = find_project(workspace, "Questions") or create_project(workspace, "Questions")
    reports: list[float] = []

    def report(fraction: float, *_: object) -> None:
        reports.append(fraction)

    began = time.perf_counter()
    done = import_file(
        workspace,
        project.id,
        file.read_bytes(),
        file.name,
        ImportOptions(score_range=(0.0, 1.0)),
        report,  # type: ignore[arg-type]
    )
    return {
        "seconds": time.perf_counter() - began,
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "kept": done.pairs_kept,
        "splits": done.splits,
        "reports": len(set(reports)),
    }


def other_session(home: Path) -> dict[str, object]:
    """Write and read a little every 50 ms until told to stop; how long that took at worst."""
    from augsbert_core.errors import WorkbenchError
    from augsbert_core.storage.database import open_workspace
    from augsbert_core.storage.projects import create_project, list_projects, rename_project

    workspace = open_workspace(home)
    mine = create_project(workspace, "Mine")
    writes, reads, errors = [], [], 0
    while not (home / "stop").exists():
        try:
            began = time.perf_counter()
            rename_project(workspace, mine.id, f"Mine {len(writes)}")
            written = time.perf_counter()
            list_projects(workspace)
            reads.append(time.perf_counter() - written)
            writes.append(written - began)
        except (WorkbenchError, sqlite3.OperationalError):
            errors += 1
        time.sleep(0.05)
    return {
        "session_writes": len(writes),
        "longest_write_seconds": max(writes),
        "session_reads": len(reads),
        "longest_read_seconds": max(reads),
        "session_errors": errors,
    }


def start_child(*arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, __file__, *arguments], stdout=subprocess.PIPE, text=True
    )


def run_child(*arguments: str) -> dict[str, object]:
    done = subprocess.run(
        [sys.executable, __file__, *arguments], stdout=subprocess.PIPE, text=True, check=True
    )
    return json.loads(done.stdout)


if __name__ == "__main__":
    main()
