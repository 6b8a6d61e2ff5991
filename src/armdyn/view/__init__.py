"""Arms to look at: the stick figure, the page."""
