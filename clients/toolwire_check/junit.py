"""The report of a check as JUnit XML, for CI systems."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

if TYPE_CHECKING:
    from .report import Report, Verdict

# Characters that XML 1.0 cannot hold, not even escaped.
_NOT_IN_XML = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def as_junit(report: Report) -> str:
    """Return *report* as one test suite. Warnings and known gaps are skipped tests with
    messages.
    """
    counts = report.count_outcomes()
    attributes = {
        "name": f"toolwire check: {report.server or ' '.join(report.command)}",
        "tests": str(len(report.verdicts)),
        "failures": str(counts["fail"]),
        "errors": "0",
        "skipped": str(counts["warn"] + counts["known gap"] + counts["not applicable"]),
        "time": f"{report.seconds:.3f}",
    }
    root = ET.Element("testsuites", attributes)
    suite = ET.SubElement(root, "testsuite", attributes)
    for verdict in report.verdicts:
        _add_test(suite, verdict)
    ET.indent(root)
    text = '<?xml version="1.0" encoding="utf-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"
    return _NOT_IN_XML.sub("\N{REPLACEMENT CHARACTER}", text)


def _add_test(suite: ET.Element, verdict: Verdict) -> None:
    area, _, name = verdict.case.partition("/")
    if verdict.where:
        name += f" [{verdict.where}]"
    seconds = f"{verdict.seconds:.3f}"
    test = ET.SubElement(suite, "testcase", classname=area, name=name, time=seconds)
    if verdict.outcome == "pass":
        return
    message = verdict.reason or f"expected {verdict.expected}; came {verdict.came}"
    if verdict.outcome == "fail":
        problem = ET.SubElement(test, "failure", message=message, type=verdict.severity)
    else:
        problem = ET.SubElement(test, "skipped", message=f"{verdict.outcome}: {message}")
    problem.text = "\n".join([verdict.behaviour, verdict.source, *verdict.exchange])
