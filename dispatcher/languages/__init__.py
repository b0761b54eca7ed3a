"""The three languages of adapter authors: CEL, Go templates and kubectl JSONPath.

Each language is one seam: compile once into an immutable program that knows its free variables, evaluate many times.
Nothing here knows of adapters, clusters or configuration files.
"""
