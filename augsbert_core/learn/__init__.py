"""The guided demo: its texts, the paper's numbers as data, and the hand-out."""
