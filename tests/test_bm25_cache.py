"""The compiled BM25 search is kept on disk; what becomes of the files there must not matter."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from augsbert_core.sampling import bm25, bm25_kernel

# The search itself takes long to compile; any function in its place is kept in the same way.
FUNCTION = "def best_matches(number):\n    return 2 * number\n"

CALL = """
import stand_in
from augsbert_core.sampling import bm25_kernel
bm25_kernel.best_matches = stand_in.best_matches
print(bm25_kernel.compiled_for([21])(21))
print(sum(bm25_kernel.compiled_best_matches().stats.cache_hits.values()))
"""


def call(folder: Path) -> list[str]:
    """What a new process computes, and how much of its machine code it read from the folder."""
    path = os.pathsep.join([str(Path(__file__).parents[1]), str(folder)])
    done = subprocess.run(
        [sys.executable, "-c", CALL],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": path, "NUMBA_CACHE_DIR": str(folder / "cache")},
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout.splitlines()


@pytest.mark.parametrize("suffix", ["nbi", "nbc"])
def test_a_damaged_cache_is_written_anew(tmp_path: Path, suffix: str) -> None:
    (tmp_path / "stand_in.py").write_text(FUNCTION)
    assert call(tmp_path) == ["42", "0"]
    (file,) = (tmp_path / "cache").rglob(f"*.{suffix}")
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 3])
    assert call(tmp_path) == ["42", "0"]
    assert call(tmp_path) == ["42", "1"]


def test_the_search_does_without_a_cache_that_cannot_be_written_anew(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Damaged:
        def compile(self, _types: tuple) -> None:
            raise EOFError("Ran out of input")

    whole = bm25_kernel.compiled_best_matches()
    monkeypatch.setattr(bm25_kernel, "compiled_best_matches", Damaged)
    monkeypatch.setattr(bm25_kernel, "_compiled_without_cache", lambda: whole)
    index = bm25.build_index([["a", "b"], ["a", "b"], ["c"]], "lucene")
    assert bm25.neighbours(index, 1).neighbour.tolist() == [1, 0]
