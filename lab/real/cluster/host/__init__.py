"""What the cluster takes from this machine: cgroups, the bridge, daemons; and what the machine must have."""
