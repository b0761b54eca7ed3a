"""The generated pages of docs/: settings, exit codes, metrics, conditions and reasons, and the field mapping."""
