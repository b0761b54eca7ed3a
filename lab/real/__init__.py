"""Real servers on loopback, for those who have Go and Debian's packages: what the stand-ins are measured against."""
