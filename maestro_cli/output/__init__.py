"""What a command prints: answers on standard output, everything else on standard error."""
