"""The DPUHCPBridge resource: its kinds, names, fields and conditions."""
