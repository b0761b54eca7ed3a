"""The vocabulary all containers speak: conditions, the adapter report, ManifestWork, errors, and the Maestro client."""
