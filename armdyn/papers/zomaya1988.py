"""Tables 1 to 4 of [Zomaya1988], as printed: joint torques of the Stanford arm.

Posture q = 0.3 (rad; joint 3: m) in every joint; in table t all joint speeds and all joint
accelerations are SPEEDS[t] (rad/s and rad/s^2; joint 3: m/s and m/s^2). A row has the torques of
joints 1 to 6 [N m; joint 3: N]: row "I" by the classical Lagrangian, row "II" by the paper's
simplified Coriolis terms. Numbers are text, so that their digits tell how exact they are.

The paper does not print the arm's parameters.
"""

POSTURE = 0.3
SPEEDS = (0.5, 0.8, 1.0, 1.5)

TABLES: tuple[dict[str, tuple[str, ...]], ...] = (
    {  # Table 1
        "I": ("0.754", "3.96", "-57.26", "0.0007", "0.656", "0.0105"),
        "II": ("0.739", "4.041", "-57.38", "0.0074", "0.7186", "0.01048"),
    },
    {  # Table 2
        "I": ("1.1", "4.91", "-55.48", "0.017", "0.706", "0.0168"),
        "II": ("0.946", "4.95", "-55.96", "0.076", "0.84", "0.017"),
    },
    {  # Table 3
        "I": ("1.178", "5.432", "-54.47", "0.026", "0.74", "0.0211"),
        "II": ("1.184", "5.604", "-55.07", "0.11", "0.95", "0.0209"),
    },
    {  # Table 4
        "I": ("0.63", "6.18", "-52.79", "0.05", "0.82", "0.0318"),
        "II": ("0.392", "7.17", "-53.3", "0.0686", "0.788", "0.0313"),
    },
)
