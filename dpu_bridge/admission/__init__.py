"""What the API server is asked to refuse before a DPUHCPBridge is stored. Pure."""
