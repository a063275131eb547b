"""Write a report as JUnit XML for CI systems."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

if TYPE_CHECKING:
    from .report import Report, Verdict

# Characters that XML 1.0 cannot hold, not even escaped.
_NOT_IN_XML = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def as_junit(report: Report) -> str:
    """Return *report* as one test suite. Warnings and known gaps are skipped tests with messages."""
    counts = report.counts()
    numbers = {
        "tests": str(len(report.verdicts)),
        "failures": str(counts["fail"]),
        "errors": "0",
        "skipped": str(counts["warn"] + counts["known gap"] + counts["not applicable"]),
        "time": f"{report.seconds:.3f}",
    }
    name = f"toolwire check: {report.server or ' '.join(report.command)}"
    root = ET.Element("testsuites", {"name": _clean(name), **numbers})
    suite = ET.SubElement(root, "testsuite", {"name": _clean(name), **numbers})
    for verdict in report.verdicts:
        _add(suite, verdict)
    ET.indent(root)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def _add(suite: ET.Element, verdict: Verdict) -> None:
    area, _, name = verdict.case.partition("/")
    where = ", ".join(filter(None, (verdict.revision, verdict.framing)))
    attributes = {"classname": area, "name": f"{name} [{where}]" if where else name, "time": f"{verdict.seconds:.3f}"}
    case = ET.SubElement(suite, "testcase", attributes)
    if verdict.outcome == "pass":
        return
    fails = verdict.outcome == "fail"
    message = verdict.reason or f"expected {verdict.expected}; came {verdict.came}"
    kind = {"type": verdict.severity} if fails else {}
    prefix = "" if fails else f"{verdict.outcome}: "
    about = ET.SubElement(case, "failure" if fails else "skipped", {"message": _clean(prefix + message), **kind})
    about.text = _clean("\n".join([verdict.behaviour, verdict.source, *verdict.exchange]))


def _clean(text: str) -> str:
    return _NOT_IN_XML.sub("\N{REPLACEMENT CHARACTER}", text)
