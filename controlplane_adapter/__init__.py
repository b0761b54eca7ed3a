"""The Job container that delivers a HostedCluster to a management cluster and tells the truth about it.

    __main__ ─▶ running        one run, one report; settings, shared.snapshot, exits
                   ├─▶ delivering    what is wanted, and where; placement
                   │     ├─ rendering, validation, overlay   cluster spec → HostedCluster (pure)
                   │     ├─ work                             HostedCluster → ManifestWork (pure)
                   │     └─ acting      observe, at most one write, await the agent's verdict
                   │          └─ deciding   what to do (pure); immutability, versions
                   └─▶ reporting     conditions and data (pure); observing, judging, finalizing, failures

One cluster, one generation, one report: written on every path out.
"""

__version__ = "0.1.0"
