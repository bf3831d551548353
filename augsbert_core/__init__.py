"""The AugSBERT Workbench: gold pairs in, an honestly compared bi-encoder out."""

__version__ = "0.1.0"
