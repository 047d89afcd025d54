"""The tests; a package so that no other installed `tests` can stand in its place."""
