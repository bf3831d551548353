"""The workspace on disk: one SQLite database, the models and the logs. All SQL lives in this package."""
