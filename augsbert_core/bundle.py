"""Where the app's own files are: beside the package in a checkout, inside it in an installed wheel."""

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent


def root() -> Path:
    """The folder that holds app.py, pages, .streamlit and sample_data."""
    bundled = _PACKAGE / "_bundle"
    return bundled if bundled.is_dir() else _PACKAGE.parent
