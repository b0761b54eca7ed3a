"""The running operator: it watches by kopf, observes, carries out plans, and approves certificate requests."""
