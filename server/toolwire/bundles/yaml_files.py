"""The files that the tools of a YAML file run: programs, scripts, and modules of their functions
and executors.
"""

from __future__ import annotations

import os
import shlex
from typing import TYPE_CHECKING

from toolwire_compat.yaml.command import ToolCommand
from toolwire_compat.yaml.files import load_file
from toolwire_compat.yaml.model import ConfigError, find_implementation

from ..errors import LoadError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from toolwire_compat.yaml.model import ToolConfig


def find_run_files(file: str) -> tuple[list[str], list[str]]:
    """Return the files that the tools of the YAML *file* run, and the folders that they run in.

    Comments, descriptions and values of arguments name nothing: only what a command consists of
    does.

    Raises:
        LoadError: if the file describes no tools.
    """
    try:
        configs = load_file(file)
    except ConfigError as error:
        raise LoadError(str(error)) from None
    files: list[str] = []
    folders: list[str] = []
    for config in configs:
        files += _find_of_tool(config)
        if isinstance(config.binding, ToolCommand):
            folders.append(config.binding.cwd)
    return list(dict.fromkeys(files)), list(dict.fromkeys(folders))


def _find_of_tool(config: ToolConfig) -> Iterator[str]:
    folder = os.path.dirname(os.path.abspath(config.file))
    binding = config.binding
    if binding is None:
        path = find_implementation(os.path.abspath(config.file))
        if os.path.isfile(path):
            yield path
    elif isinstance(binding, ToolCommand):
        yield from _find_in_command(binding, folder)
    else:
        yield from _find_module(binding.module or "", folder)


def _find_module(module: str, folder: str) -> Iterator[str]:
    place = os.path.join(folder, *module.split("."))
    for path in (f"{place}.py", os.path.join(place, "__init__.py")):
        if module and os.path.isfile(path):
            yield path


def _find_in_command(command: ToolCommand, folder: str) -> Iterator[str]:
    """Yield each file that is a word of *command*: in the folder where it runs, or in that of the
    YAML file.
    """
    for word in (command.program, *_find_fixed_words(command)):
        for start in (command.cwd, folder):
            path = os.path.normpath(os.path.join(start, word))
            if os.path.isfile(path) and not os.path.isabs(word):
                yield path
                break
    if os.path.isabs(command.program) and command.program.startswith(os.path.join(folder, "")):
        yield os.path.normpath(command.program)


def _find_fixed_words(command: ToolCommand) -> Iterator[str]:
    """Yield the words that are the same in every call; those of a script for the shell, as the
    shell splits it.
    """
    for word in command.words:
        templates = word if isinstance(word, tuple) else (word,)
        for template in templates:
            if template.places:
                continue
            text = "".join(map(str, template.parts))
            if command.shell:
                yield from _split_script(text)
            else:
                yield text


def _split_script(script: str) -> list[str]:
    words = shlex.shlex(script, posix=True, punctuation_chars=True)
    words.whitespace_split = True
    try:
        return list(words)
    except ValueError:  # a quote of the shell that this reader does not know
        return script.split()
