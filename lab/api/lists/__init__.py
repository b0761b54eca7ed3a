"""Lists of resources: which ones (search), in which order, which page, and which fields of them."""
