"""A look at the data: what is measured in a panel, and the one page that shows it."""
