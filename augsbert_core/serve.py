"""The server of `augsbert app`: Streamlit, with the pages' modules read before the first visitor needs them.

Otherwise the first visit of every page waits for the libraries behind it.
"""

import gc
import importlib
import pkgutil
import threading
import time
from contextlib import suppress

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


def expect_a_class() -> None:
    """In a class: keep connections for the next click, and load the models of the first step, which all ask for at once."""
    from augsbert_core.errors import WorkbenchError
    from augsbert_core.steps import learn
    from augsbert_core.storage.idle_connections import IDLE
    from augsbert_core.ui.door import in_class

    if in_class():
        IDLE.keep()
        with suppress(WorkbenchError):  # told where it is asked for
            learn.get_ready()


def spare_what_stays() -> None:
    """Let Python look for garbage among what comes from now on: modules and models stay as long as the server.

    A search through all of them takes half a second, in which nobody's page goes on.
    """
    gc.collect()
    gc.freeze()


def _read_when_up() -> None:
    from streamlit import runtime

    # Streamlit's caches ask for the running server when a module makes them.
    while not runtime.exists():
        time.sleep(LOOK_SECONDS)
    read_modules()
    expect_a_class()
    spare_what_stays()


if __name__ == "__main__":
    main()
