"""Server-side apply and the three kinds of patch."""
