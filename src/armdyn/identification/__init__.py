"""From logs of a real arm to a model of it."""
