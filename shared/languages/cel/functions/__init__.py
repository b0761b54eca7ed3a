"""The functions and operators that an expression can call, by subject."""
