"""The Job container that delivers a HostedCluster to its management cluster and reports its state.

Each package imports only those to its left:

    hostedcluster     cluster spec → HostedCluster: render, overlay, validate, compare
    < work            HostedCluster → ManifestWork; feedback → HostedClusterStatus
    < reconcile       observe → desire → decide → carry out, at most one write to Maestro
    < status          conditions and data of the report
    < settings, run   environment in, report file and exit code out

One cluster, one generation, one report: written on every path out.
"""
