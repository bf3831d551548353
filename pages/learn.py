"""Learn: a guided demo of Augmented SBERT in eight steps."""

from augsbert_core import ui
from augsbert_core.ui.learn_page import learn_page

bench = ui.open_bench()
ui.page_header(
    "Learn",
    "Augmented SBERT in eight steps on the bundled sample: predict first, then see what this machine finds, and what "
    "the paper found.",
)
learn_page(bench)
