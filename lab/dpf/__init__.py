"""Simulated DPUs and the DPF objects they belong to: what a DPU asks of a hosted cluster while it joins."""
