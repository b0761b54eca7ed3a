"""The DPF-HCP bridge operator: one DPUHCPBridge links a DPUCluster of DPF to a hosted control plane of HyperShift.

`api` is the resource, `render` writes the objects that it needs, `plan` decides what to do next, `certificates` decides
the requests of joining nodes. These are pure. `operator` watches, reads and writes.
"""
