"""Approving the certificate requests of hosted clusters."""
