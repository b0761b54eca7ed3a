"""The commands for ManifestWorks: reading, applying, deleting, waiting and watching."""
