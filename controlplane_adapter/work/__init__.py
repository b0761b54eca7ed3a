"""The ManifestWork that carries a HostedCluster, its feedback rules, and how feedback is read. Pure."""
