"""Models: load, train, label, evaluate. Torch lives here and is imported inside functions."""

import os

# Read by torch's OpenMP when it loads. By default its threads spin while they wait for each other; where
# anything else runs on the machine (the app's own server is enough), a step then takes up to 12 times
# as long. Waiting asleep costs next to nothing on an idle machine. A value set by the user stands.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
