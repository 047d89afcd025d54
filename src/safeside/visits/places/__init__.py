"""Where: `places` is the public list, `coordinates` finds the listed places at a point.

`venues`, `grid_codes` and `free_ground` refuse lists that leave nobody anywhere else to be; `lookalikes`
finds identifiers that look like listed ones.
"""
