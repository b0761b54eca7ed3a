"""From the text of a template to its syntax tree."""
