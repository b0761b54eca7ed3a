"""The command line of the adapter: one module for each sub-command.

A command's module has `add_to(commands)`, which describes its arguments, and a function that runs it and returns the
exit code; it imports what it works with only then, so that `--help` and the shell's completion stay quick. `main` puts
the commands together.
"""
