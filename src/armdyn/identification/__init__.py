"""Identification: from logs of a real arm to a model that is physically possible."""
