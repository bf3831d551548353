"""The server reads the pages' modules by itself, and nothing of what only jobs need."""

import subprocess
import sys


def test_all_modules_of_the_pages_are_read_without_the_training_libraries() -> None:
    code = (
        "import sys; from augsbert_core.serve import read_modules; read_modules(); print(sorted("
        "{'augsbert_core.ui.silver_table', 'torch', 'sentence_transformers'} & set(sys.modules)))"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "['augsbert_core.ui.silver_table']"


def test_the_search_for_garbage_spares_what_stays() -> None:
    code = (
        "import gc; from augsbert_core.serve import spare_what_stays; import numpy; spare_what_stays(); "
        "print(gc.get_freeze_count() > 10_000 > len(gc.get_objects()))"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "True"
