"""What is too much for an arm: every limit on what is accepted, and why it stands where it does."""

# Numbers
LARGEST = 1e9  # m, rad, kg or kg m^2 in a description: no arm has more, and no square overflows
HUGE = 1e50  # in a chain, whose frames may lie far off: a product of six still fits a double
UNLIMITED = 1e38  # from here on a limit is none: files without infinity say the largest float

# Arms
MOST_JOINTS = 1000  # checks and programs grow with the square and more of them

# Texts
MAX_BYTES = 10_000_000  # no arm's text is longer; what is, is refused unread
MAX_TOML = 2_000_000  # bytes; tomllib may use 350 times as much memory, and 1000 joints need half
MAX_PARTS = 8  # of a TOML key, a.b.c: tomllib's work grows as their square; an arm needs 3
MAX_DEPTH = 64  # XML elements within elements; a URDF needs six
MAX_ELEMENTS = 100_000  # XML elements in all; a humanoid has some thousands
