"""Everything that is wrong with a HostedCluster before it is sent, one module per subject. Pure."""
