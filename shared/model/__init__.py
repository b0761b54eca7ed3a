"""The documents that the containers exchange: conditions, the adapter report, the cluster snapshot, ManifestWork."""
