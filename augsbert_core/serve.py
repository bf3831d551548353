"""The server of `augsbert app`: Streamlit, with the pages' modules read before the first visitor needs them.

Otherwise the first visit of every page waits for the libraries behind it.
"""

import importlib
import pkgutil
import threading
import time

LOOK_SECONDS = 0.02


def main() -> None:
    """Streamlit's command line; the modules are read beside it, as soon as the server is there."""
    from streamlit.web.cli import main as streamlit

    threading.Thread(target=_read_when_up, name="read modules", daemon=True).start()
    streamlit(prog_name="streamlit")


def read_modules() -> None:
    """Import everything that pages use; torch and the like stay out, jobs import them."""
    ui = importlib.import_module("augsbert_core.ui")
    for found in pkgutil.iter_modules(ui.__path__, f"{ui.__name__}."):
        importlib.import_module(found.name)


def _read_when_up() -> None:
    from streamlit import runtime

    # Streamlit's caches ask for the running server when a module makes them.
    while not runtime.exists():
        time.sleep(LOOK_SECONDS)
    read_modules()


if __name__ == "__main__":
    main()
