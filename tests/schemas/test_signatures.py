"""Signatures of functions, also where an annotation cannot be evaluated."""

from __future__ import annotations

import inspect
import sys
from typing import Any

import pytest
from toolwire_schemas.signatures import read_signature


def test_annotations_that_can_be_evaluated_are_objects() -> None:
    def function(a: int, *, b: str = "") -> None: ...

    assert read_signature(function) == inspect.signature(function)


@pytest.mark.skipif(
    sys.version_info < (3, 14), reason="since Python 3.14 annotations are read late"
)
@pytest.mark.parametrize("annotation", ["Unknown", "sys.missing", "int['x']"])
def test_annotations_that_cannot_be_evaluated_are_text(annotation: str) -> None:
    namespace: dict[str, Any] = {"sys": sys}
    source = f"def function(a: {annotation}, *, b: int = 1) -> str: ..."
    exec(compile(source, "module.py", "exec", dont_inherit=True), namespace)

    found = read_signature(namespace["function"])
    assert list(found.parameters) == ["a", "b"]
    assert found.parameters["a"].annotation == annotation
    assert found.parameters["b"].default == 1


def test_a_function_in_c_without_a_signature_is_a_value_error() -> None:
    with pytest.raises(ValueError, match="signature"):
        read_signature(max)
