"""The printed tables of the papers, as data: a module a paper."""
