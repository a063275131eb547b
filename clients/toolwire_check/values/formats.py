"""Strategies for strings of the formats that JSON Schema names."""

from __future__ import annotations

import datetime as dt

from hypothesis import strategies as st

# All hosts are of the domain that is reserved for examples: a tool that connects to one of them
# reaches no host.
_LABEL = st.text("abcdefghijklmnopqrstuvwxyz0123456789", min_size=1, max_size=8)
_HOST = st.lists(_LABEL, min_size=1, max_size=3).map(lambda labels: ".".join([*labels, "example"]))
_PATH = st.lists(st.text("abcXYZ019-._~", max_size=5), max_size=3).map("/".join)
_OFFSET = st.sampled_from(("Z", "+00:00", "-00:00", "+05:45", "-23:59"))
_DATES = st.dates(dt.date(1, 1, 1), dt.date(9999, 12, 31)).map(dt.date.isoformat)
_TIMES = st.builds("{}{}".format, st.times().map(dt.time.isoformat), _OFFSET)
_URIS = st.builds("https://{}/{}".format, _HOST, _PATH)
FORMATS: dict[str, st.SearchStrategy[str]] = {
    "date": _DATES,
    "date-time": st.builds("{}T{}".format, _DATES, _TIMES),
    "time": _TIMES,
    "email": st.builds("{}@{}".format, _LABEL, _HOST),
    "hostname": _HOST,
    "ipv4": st.ip_addresses(v=4).map(str),
    "ipv6": st.ip_addresses(v=6).map(str),
    "uri": _URIS,
    "uri-reference": st.one_of(_PATH, _URIS),
    "uuid": st.uuids().map(str),
    "regex": st.sampled_from(("", "a", "^[a-z]+$", "(a|b)*")),
}
