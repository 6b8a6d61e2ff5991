"""Programs: straight-line code that an algorithm leaves behind when it runs on traced scalars."""
