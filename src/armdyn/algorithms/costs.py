"""What the methods cost on generic arms; made by docs/make_costs.py, which counts them.

Of each method the multiplications, additions and doublings on a generic arm of n revolute joints,
counted literally, as a polynomial in n: its denominator, and its numerators from n^0 on.
"""

from collections.abc import Mapping

Counted = tuple[int, tuple[int, ...]]

COSTS: Mapping[str | tuple[str, ...], Mapping[str, Counted]] = {
    "mass_matrix": {
        "lin1991": (2, (-310, 155, 33)),  # 16.5n^2+77.5n-155
        "walker-orin": (1, (-110, 92, 18)),  # 18n^2+92n-110
        "renaud": (2, (-264, 97, 45)),  # 22.5n^2+48.5n-132
        "fijany-bejczy": (2, (-618, 315, 17)),  # 8.5n^2+157.5n-309
        "fijany-bejczy-2": (2, (-684, 309, 17)),  # 8.5n^2+154.5n-342
        "lin-fang-1": (1, (-61, 47, 16)),  # 16n^2+47n-61
        "lin-fang-2": (2, (-102, 63, 39)),  # 19.5n^2+31.5n-51
        "lin-fang-3": (2, (-98, 57, 41)),  # 20.5n^2+28.5n-49
        "lin-fang-4": (2, (-430, 263, 17)),  # 8.5n^2+131.5n-215
        "lin-fang-5": (1, (-57, 51, 16)),  # 16n^2+51n-57
        "lin-fang-1-minimal": (1, (-84, 37, 16)),  # 16n^2+37n-84
        "lin-fang-2-minimal": (2, (-148, 43, 39)),  # 19.5n^2+21.5n-74
        "kic": (6, (-72, 794, 117, 13)),  # 13/6n^3+19.5n^2+397/3n-12
        "kic-augmented": (2, (-440, 305, 23)),  # 11.5n^2+152.5n-220
        "gdahj": (2, (-66, 463, 11)),  # 5.5n^2+231.5n-33
        "gdahj-one-sum": (2, (-114, 451, 11)),  # 5.5n^2+225.5n-57
        "crba": (1, (-73, 57, 16)),  # 16n^2+57n-73
        "crba-minimal": (1, (-84, 52, 16)),  # 16n^2+52n-84
        "lagrange": (2, (76, -169, 107, 6)),  # 3n^3+53.5n^2-84.5n+38
        "newton-euler": (1, (25, -100, 74)),  # 74n^2-100n+25
        "hybrid": (2, (-170, 343, 11)),  # 5.5n^2+171.5n-85
        "hybrid-minimal": (2, (-192, 333, 11)),  # 5.5n^2+166.5n-96
        "momentum": (2, (-504, 371, 11)),  # 5.5n^2+185.5n-252
    },
    "bias": {
        "lin1991": (2, (-352, 159, 67)),  # 33.5n^2+79.5n-176
        "newton-euler": (1, (-180, 175)),  # 175n-180
        "newton-euler-minimal": (1, (-180, 157)),  # 157n-180
        "newton-euler-sums": (1, (-180, 157)),  # 157n-180
        "newton-euler-angles": (1, (-180, 157)),  # 157n-180
        "newton-euler-flat": (1, (-177, 155)),  # 155n-177
        "lagrange": (12, (444, -1042, 771, 100, 27)),  # 2.25n^4+25/3n^3+64.25n^2-521/6n+37
        "kic": (2, (-18, 363, 59, 28, 8)),  # 4n^4+14n^3+29.5n^2+181.5n-9
        "kic-augmented": (3, (-558, 361, 51, 23)),  # 23/3n^3+17n^2+361/3n-186
        "zomaya-morris": (6, (222, -445, 294, 52, 27)),  # 4.5n^4+26/3n^3+49n^2-445/6n+37
    },
    "gravity": {
        "lin1991": (1, (-53, 55)),  # 55n-53
        "newton-euler": (1, (-35, 62)),  # 62n-35
        "newton-euler-minimal": (1, (-14, 32)),  # 32n-14
        "lagrange": (1, (-18, 33)),  # 33n-18
        "lagrange-minimal": (1, (-18, 29)),  # 29n-18
    },
    "christoffel": {
        "lin1991": (3, (-525, 208, 57, 5)),  # 5/3n^3+19n^2+208/3n-175
        "kic": (1, (-12, 131, 24, 13, 4)),  # 4n^4+13n^3+24n^2+131n-12
        "kic-augmented": (6, (-1170, 701, 93, 40)),  # 20/3n^3+15.5n^2+701/6n-195
        "lagrange": (12, (444, -1084, 633, 88, 27)),  # 2.25n^4+22/3n^3+52.75n^2-271/3n+37
        "momentum": (3, (-726, 499, 30, 5)),  # 5/3n^3+10n^2+499/3n-242
        "momentum-tip": (3, (-780, 523, 30, 5)),  # 5/3n^3+10n^2+523/3n-260
        "momentum-flat": (3, (-753, 493, 30, 5)),  # 5/3n^3+10n^2+493/3n-251
        "momentum-tip-flat": (3, (-852, 517, 30, 5)),  # 5/3n^3+10n^2+517/3n-284
    },
    "coriolis_matrix": {
        "newton-euler": (1, (0, -430, 352)),  # 352n^2-430n
        "echeandia-wensing-flat": (1, (-217, 192, 51)),  # 51n^2+192n-217
        "momentum": (2, (-526, 285, 61)),  # 30.5n^2+142.5n-263
        "momentum-tip": (2, (-562, 301, 61)),  # 30.5n^2+150.5n-281
        "momentum-flat": (2, (-544, 281, 61)),  # 30.5n^2+140.5n-272
        "momentum-tip-flat": (2, (-610, 297, 61)),  # 30.5n^2+148.5n-305
        "lin1991": (3, (-522, 208, 48, 11)),  # 11/3n^3+16n^2+208/3n-174
        "kic": (1, (-12, 131, 23, 15, 4)),  # 4n^4+15n^3+23n^2+131n-12
        "kic-augmented": (6, (-1170, 689, 87, 52)),  # 26/3n^3+14.5n^2+689/6n-195
        "lagrange": (12, (456, -1084, 597, 112, 27)),  # 2.25n^4+28/3n^3+49.75n^2-271/3n+38
    },
    "inverse_dynamics": {
        "newton-euler": (1, (-153, 176)),  # 176n-153
        "newton-euler-minimal": (1, (-157, 158)),  # 158n-157
        "newton-euler-sums": (1, (-157, 158)),  # 158n-157
        "newton-euler-angles": (1, (-157, 158)),  # 158n-157
        "newton-euler-flat": (1, (-156, 156)),  # 156n-156
        "frame-injection": (2, (6, 349, 147)),  # 73.5n^2+174.5n+3
    },
    "forward_dynamics": {
        "ldl": (3, (-1005, 755, 57, 1)),  # 1/3n^3+19n^2+755/3n-335
        "articulated-body": (1, (-483, 429)),  # 429n-483
    },
    "mass_matrix_derivative": {
        "tape-forward": (3, (-195, 97, 66, 32)),  # 32/3n^3+22n^2+97/3n-65
        "lin1991": (6, (-1050, 416, 111, 13)),  # 13/6n^3+18.5n^2+208/3n-175
        "kic": (2, (-24, 262, 49, 27, 8)),  # 4n^4+13.5n^3+24.5n^2+131n-12
        "kic-augmented": (6, (-1170, 695, 96, 43)),  # 43/6n^3+16n^2+695/6n-195
        "lagrange": (12, (444, -1084, 627, 94, 27)),  # 2.25n^4+47/6n^3+52.25n^2-271/3n+37
        "momentum": (6, (-1452, 998, 57, 13)),  # 13/6n^3+9.5n^2+499/3n-242
        "momentum-tip": (6, (-1560, 1046, 57, 13)),  # 13/6n^3+9.5n^2+523/3n-260
        "momentum-flat": (6, (-1506, 986, 57, 13)),  # 13/6n^3+9.5n^2+493/3n-251
        "momentum-tip-flat": (6, (-1704, 1034, 57, 13)),  # 13/6n^3+9.5n^2+517/3n-284
    },
    "inverse_dynamics_derivatives": {
        "newton-euler": (1, (-129, -158, 292)),  # 292n^2-158n-129
        "tape-forward": (1, (-129, -158, 292)),  # 292n^2-158n-129
        "tape-reverse": (2, (-262, -37, 359)),  # 179.5n^2-18.5n-131
        "singh-flat": (2, (-834, 797, 147)),  # 73.5n^2+398.5n-417
        "singh-base": (2, (-1836, 1269, 67)),  # 33.5n^2+634.5n-918
    },
    "forward_dynamics_derivatives": {
        "ldl": (2, (-4022, 2945, 139, 10)),  # 5n^3+69.5n^2+1472.5n-2011
        "articulated-body": (1, (-236, -483, 588)),  # 588n^2-483n-236
    },
    "inverse_dynamics_second_derivatives": {
        "newton-euler": (3, (-708, -451, -165, 1228)),  # 1228/3n^3-55n^2-451/3n-236
        "singh-flat": (2, (-606, -75, 655, 142)),  # 71n^3+327.5n^2-37.5n-303
        "singh-base": (6, (1422, -6985, 3987, 292)),  # 146/3n^3+664.5n^2-6985/6n+237
    },
    ("mass_matrix", "bias"): {
        "lin1991": (1, (-157, 80, 38)),  # 38n^2+80n-157
    },
}
