"""The sub-commands of `hyperfleet-adapter`, one module for each.

A module has `add_to(commands)`, which describes its arguments, and a function that runs it and returns the exit code.
It imports what it works with only then, so that `--help` and the shell's completion stay quick.
"""
