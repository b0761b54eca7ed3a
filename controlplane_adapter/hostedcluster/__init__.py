"""From a cluster's spec to its HostedCluster: rendering, overlay, validation, and which changes are possible. Pure."""
