"""What all containers share: conditions, the adapter report, ManifestWork, errors, languages and the Maestro client."""

__version__ = "0.1.0"
