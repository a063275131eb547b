"""Models by name: `openai:gpt-5`, `ollama:llama3.2`, `arithmetic`, `my_module:my_model`."""

from __future__ import annotations

import importlib
import importlib.util
import re
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from toolwire_schemas.did_you_mean import explain_unknown_name
from toolwire_schemas.extensions import ExtensionFailed, find_extension

from .arithmetic import ArithmeticModel
from .errors import NotAModel, NotReady
from .http_api.remote_model import AnthropicModel, OpenAIModel
from .http_api.vendors import PRESETS
from .human import HumanModel
from .model import as_model
from .testing import ReplayModel

if TYPE_CHECKING:
    from collections.abc import Callable

    from .model import Model

_PLAIN: dict[str, Callable[[], Model]] = {"arithmetic": ArithmeticModel, "human": HumanModel}
_FIRST_WORDS = (*_PLAIN, "replay", *PRESETS)
_SMALL = 500e6


def model_from_name(name: str, **settings: Any) -> Model:
    """Return the model of this name. *settings* are those of `RemoteModel`, for models with an
    endpoint.

    | name | the model |
    |---|---|
    | `PRESET:MODEL` | a model of a vendor or local server: `openai:gpt-5`, `ollama:llama3.2:3b` |
    | `arithmetic` | the offline planner |
    | `human` | the person at the terminal |
    | `replay:FILE` | the replies recorded in a file |
    | `KIND:MODEL` | that of an extension: the entry point `KIND` in the group `toolwire.models` |
    | `MODULE:OBJECT`, `FILE.py:OBJECT` | your own object, or the result of your class or function |

    Raises:
        NotReady: if the name is unknown; the text suggests the closest one.
        NotAModel: if the object is not a model.
    """
    kind, colon, rest = name.partition(":")
    if preset := PRESETS.get(kind):
        if not rest:
            raise NotReady(f"which model of {kind}? The name is {kind}:MODEL")
        return (AnthropicModel if preset.wire == "messages" else OpenAIModel)(
            rest, kind, **settings
        )
    if kind not in _FIRST_WORDS and (make := _find_announced(kind)) is not None:
        return as_model(make(rest, **settings))
    if settings:
        raise NotReady(f"{name!r} has no endpoint, so it takes no {', '.join(settings)}")
    if kind in _PLAIN and not colon:
        return _PLAIN[kind]()
    if kind == "replay" and rest:
        return ReplayModel(rest)
    if colon and rest:
        return _load_own(name)
    hint = "" if colon else "; a vendor's model is called PROVIDER:MODEL, as in openai:gpt-5"
    raise NotReady(explain_unknown_name("model", kind, _FIRST_WORDS) + hint)


def _find_announced(kind: str) -> Any:
    """Return what makes the models `KIND:MODEL`, if an installed distribution announces it."""
    try:
        return find_extension("models", kind)
    except ExtensionFailed as error:
        raise NotReady(str(error)) from None


def needs_no_code(name: str) -> bool:
    """Return whether *name* is a model of Toolwire, so that creating it runs no other code."""
    return name.partition(":")[0] in _FIRST_WORDS


def is_small(name: str) -> bool:
    """Return whether a model's name says that it has at most 500 million parameters:
    `smollm2:135m`, `qwen3:0.5b`.
    """
    sizes = re.findall(r"(?<![a-z0-9.])(\d+(?:\.\d+)?)(m|b)(?![a-z0-9])", name.lower())
    return any(float(size) * {"m": 1e6, "b": 1e9}[unit] <= _SMALL for size, unit in sizes)


def list_names() -> list[str]:
    """Return the possible names, with placeholders."""
    return [*_PLAIN, "replay:FILE", *(f"{preset}:MODEL" for preset in PRESETS), "MODULE:OBJECT"]


def _load_own(name: str) -> Model:
    where, _, path = name.rpartition(":")
    found: Any = _load_file(where) if where.endswith(".py") else _load_module(where)
    for part in path.split("."):
        if not hasattr(found, part):
            names = [each for each in dir(found) if not each.startswith("_")]
            raise NotReady(f"{where}: {explain_unknown_name('object', part, names)}")
        found = getattr(found, part)
    with suppress(NotAModel):
        return as_model(found)
    try:  # a class, or a function without parameters, makes the model
        return as_model(found() if callable(found) else found)
    except NotAModel as error:
        raise NotAModel(f"{name}: {error}") from None


def _load_file(path: str) -> Any:
    spec = importlib.util.spec_from_file_location(Path(path).stem, path)
    if spec is None or spec.loader is None or not Path(path).is_file():
        raise NotReady(f"there is no file {path}")
    folder = str(Path(path).parent.absolute())
    if (
        folder not in sys.path
    ):  # for imports from the same folder; last, so that it hides no other module
        sys.path.append(folder)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _load_module(name: str) -> Any:
    if str(Path.cwd()) not in sys.path:  # a console script's path lacks the current folder
        sys.path.insert(0, str(Path.cwd()))
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{name}.".startswith(f"{error.name}."):
            raise
        raise NotReady(explain_unknown_name("module or model", name, _FIRST_WORDS)) from None
