"""Phase 4: payloads are built and post-actions executed, whatever happened before."""
