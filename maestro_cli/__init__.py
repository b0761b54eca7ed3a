"""The command line for ManifestWorks and consumers."""
