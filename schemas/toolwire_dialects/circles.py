"""Which of some things that refer to each other are in a circle."""

from __future__ import annotations


def find_circles(refers: dict[str, frozenset[str]]) -> dict[str, str]:
    """Return for each name one that is the same for all names of its circle.

    The names of a circle follow each other, after those of all circles that they refer to. What
    *refers* does not have is left out. These are the strongly connected components, by Tarjan.
    """
    number: dict[str, int] = {}
    lowest: dict[str, int] = {}
    open_names: list[str] = []
    circle_of: dict[str, str] = {}
    for start in refers:
        path = [] if start in number else [(start, iter(sorted(refers[start])))]
        while path:
            name, ahead = path[-1]
            if name not in number:
                number[name] = lowest[name] = len(number)
                open_names.append(name)
            following = next(ahead, None)
            if following is None:
                path.pop()
                if path:
                    before, _ = path[-1]
                    lowest[before] = min(lowest[before], lowest[name])
                while lowest[name] == number[name] and name not in circle_of:
                    circle_of[open_names.pop()] = name
            elif following not in refers or following in circle_of:
                continue
            elif following in number:
                lowest[name] = min(lowest[name], number[following])
            else:
                path.append((following, iter(sorted(refers[following]))))
    return circle_of
