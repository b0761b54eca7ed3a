"""The four phases of one run over ports: params, preconditions, resources, post."""
