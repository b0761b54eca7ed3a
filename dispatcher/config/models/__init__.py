"""The three files as typed values: every field, its default and what it may be.

The descriptions are the documentation: `schema` prints them, docs/configuration.md is made from them.
"""
