"""What every room writes with: files that are whole or not at all, tables, HTML."""
