"""Watches that resume for ever, and what they know."""
