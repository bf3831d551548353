"""The model that comes with the workbench."""

BUNDLED_MODEL = "sentence-transformers/all-MiniLM-L6-v2"
