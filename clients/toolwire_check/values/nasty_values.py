"""Values that programs stumble over, for wherever a schema allows them; the simplest first."""

from __future__ import annotations

# The edges of 32 and 64 bits, of what a double holds exactly (2^53), and what only exact arithmetic
# holds.
_EDGES = (2**31, 2**32, 2**53, 2**63, 2**64, 10**30)
INTEGERS = (
    0,
    1,
    -1,
    *(edge + more for edge in _EDGES for more in (-1, 0, 1)),
    *(-edge for edge in _EDGES),
)
INTEGRAL_FLOATS = (0.0, -0.0, 1.0, 1e16, 1e23, 1e308, -1e308)
FRACTIONS = (0.5, -0.5, 0.1, 0.1 + 0.2, 3.141592653589793, 1e-7, 5e-324, -2.2250738585072014e-308)

STRINGS = (
    *("", " ", "0", "1.0", "true", "null", "[]", '"', "\\", "-h", "x" * 10_000),
    *("'; DROP TABLE tools; --", "$(true) `true` %s {0} ${x} {{x}}", "../../etc/passwd"),
    *("a\nb\r\nc", "a\tb\x00c\x1b[31md\x7f", "\u2028\u2029\u0085", "\ufeffa"),
    *("é", "e\u0301", "a" + "\u0301" * 40),  # é is one code point or two
    *("𝒳", "𝒳" * 3_000, "👩‍👩‍👧‍👦", "\U0010ffff\ufffe", "\u05e9\u05dc\u05d5\u05dd \u202eabc"),
    "İıſß",  # these change length or meaning with their case
)

# Taken for a value of another type where types are lax.
LOOKALIKES = [
    None,
    False,
    True,
    0,
    1,
    1.5,
    "",
    "0",
    "1",
    "-1",
    "1.5",
    "1e3",
    " 1",
    "true",
    "false",
    "null",
    "[]",
    "{}",
]

NAMES = (
    *(
        "x",
        "",
        "__proto__",
        "constructor",
        "toString",
        "__class__",
        "self",
        "a b",
        "a.b",
        "$ref",
        "/",
        "1",
        "é",
    ),
    *("e\u0301", "𝒳", "a\nb", "n" * 300),
)
