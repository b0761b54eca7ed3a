"""Phase 3: each resource is observed, a plan is decided, and the plan is carried out."""
