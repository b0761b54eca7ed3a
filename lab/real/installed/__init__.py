"""The whole system on a real cluster: servers that pods reach, our chart, and what stands for others' parts."""
