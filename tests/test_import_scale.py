"""The claims of benchmarks/importing.py: a file of Quora's size comes in quickly and bothers nobody."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.mark.alone
def test_four_hundred_thousand_rows_come_in_within_six_times_pandas() -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "benchmarks" / "importing.py"), "--rounds", "2", "--json"],
        capture_output=True,
        text=True,
        check=True,
    )
    result = json.loads(done.stdout)
    print(done.stdout)
    assert result["kept"] == 400_000
    assert sum(result["splits"].values()) == 400_000
    assert result["reports"] > 20, "progress moves while rows are written"
    assert result["ratio"] <= 6
    assert result["peak_mb"] < 1500
    assert result["session_errors"] == 0
    assert result["longest_read_seconds"] < 2
