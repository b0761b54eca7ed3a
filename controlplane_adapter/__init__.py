"""The Job container that delivers a HostedCluster to a management cluster and tells how it went."""
