"""`controlplane-adapter check`: which prerequisites of the adapter are missing, as far as it can see them."""
