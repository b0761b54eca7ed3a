"""A real Kubernetes cluster of one node on this machine: its own bridge, its own folder, and nothing left when it goes.

Three things own all of a cluster, so that a crash leaves nothing that cannot be found: every process is in its cgroup,
every mount is in the mount namespace of its containerd and vanishes with it, every file is in its folder.
"""
