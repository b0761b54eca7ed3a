"""The DPF-HCP bridge operator."""
