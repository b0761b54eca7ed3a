"""The three languages of adapter authors: CEL, Go templates and kubectl JSONPath.

All have one shape: a source is compiled once into an immutable `Program`, which knows its free variables and
is evaluated many times. `registry` has the languages by name. Nothing here knows of adapters, clusters or configuration
files. Each language uses the same file names for the same roles, as far as it has them:

    lexer, literals, parser, syntax   from text to a syntax tree
    compiler, calls, functions        from the tree to something that runs
    program                           the compiled source and its public interface
    evaluation, limits                the state of one evaluation, and how far it may go
    comparison, values, formatting    how values compare, are held and are printed
    failure, mistakes                 how an evaluation stops, and the hints for common mistakes
"""
