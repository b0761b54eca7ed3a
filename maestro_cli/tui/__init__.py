"""The full-screen terminal interface: consumers, works and one work in detail, live. Only here is textual used."""
