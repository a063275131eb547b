"""The part of completion that runs in a shell, and the form in which each shell takes words.

A shell calls `toolwire completion --next SHELL -- …` and reads lines. The first says whether paths
may stand there, and after which text: `words` or `path TEXT`. Each of the others is a word, in the
form that the shell's own commands take. No shell evaluates a line.
"""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from .candidates import Candidate, Candidates

_BASH = r"""# Completes `toolwire` in bash 4.4 or later.
_toolwire() {
    local kind word path typed=${COMP_WORDS[COMP_CWORD]}
    COMPREPLY=()
    {
        IFS= read -r kind
        while IFS= read -r word; do COMPREPLY+=("$word"); done
    } < <(toolwire completion --next bash -- "${COMP_LINE:0:COMP_POINT}" 2> /dev/null)
    if [[ $kind == path* ]]; then
        compopt -o filenames
        case $typed in '=' | ':' | '@' | '=@') typed= ;; esac
        while IFS= read -r path; do COMPREPLY+=("$path"); done < <(compgen -f -- "$typed")
    fi
    if [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *= ]]; then compopt -o nospace; fi
}
complete -F _toolwire toolwire
"""

_ZSH = r"""#compdef toolwire
# Completes `toolwire` in zsh.
_toolwire() {
    local -a lines closed open
    local line kind
    lines=("${(@f)$(toolwire completion --next zsh -- "${(@Q)words[2,CURRENT]}" 2> /dev/null)}")
    kind=$lines[1]
    for line in "${(@)lines[2,-1]}"; do
        if [[ ${line%%:*} == *= ]]; then open+=("$line"); else closed+=("$line"); fi
    done
    (( $#closed )) && _describe 'word' closed
    (( $#open )) && _describe 'argument' open -S ''
    if [[ $kind == path* ]]; then
        compset -P "${(b)kind#path }"
        _files
    fi
}
if [[ $funcstack[1] == _toolwire ]]; then _toolwire "$@"; else compdef _toolwire toolwire; fi
"""

_FISH = r"""# Completes `toolwire` in fish.
function __toolwire_complete
    set -l typed (commandline -opc)
    set -e typed[1]
    set -l last (commandline -ct)
    set -l lines (toolwire completion --next fish -- $typed "$last" 2> /dev/null)
    set -l kind $lines[1]
    set -e lines[1]
    for line in $lines
        printf '%s\n' $line
    end
    if string match -q 'path*' -- $kind
        set -l before (string replace -r '^path ?' '' -- $kind)
        set -l length (string length -- "$before")
        set -l path (string sub -s (math $length + 1) -- "$last")
        for found in (__fish_complete_path "$path")
            printf '%s%s\n' "$before" $found
        end
    end
end
complete -c toolwire -f -a '(__toolwire_complete)'
"""

_BREAKS = "\"'@><=;|&(:"
"""The characters at which bash divides a word: it replaces only the part after the last one."""


SCRIPTS = {"bash": _BASH, "zsh": _ZSH, "fish": _FISH}
"""By the name of the shell, the text that the user puts where the shell looks for completions."""


def split_line(line: str) -> list[str]:
    """Return the words of the *line* of a shell up to the cursor; the last may be empty."""
    for closing in ("", "'", '"'):
        try:
            words = shlex.split(line + closing)
        except ValueError:  # a quotation mark is open, or a backslash is last
            continue
        is_between_words = not closing and line[-1:].isspace() and not line.endswith("\\ ")
        return [*words, ""] if is_between_words else words
    return []


def format_lines(found: Candidates, shell: str, last: str) -> str:
    """Return what the script of *shell* reads, after a line that ends with the word *last*."""
    kind = f"path {found.before_path}".rstrip() if found.takes_path else "words"
    format_word = _FORMS[shell]
    return "\n".join([kind, *(format_word(word, last) for word in found.words)])


def _format_for_bash(candidate: Candidate, last: str) -> str:
    kept = 1 + max(last.rfind(letter) for letter in _BREAKS)
    rest = candidate.word[kept:]
    return rest if candidate.is_open else shlex.quote(rest)


def _format_for_zsh(candidate: Candidate, last: str) -> str:
    word = candidate.word.replace("\\", "\\\\").replace(":", "\\:")
    return f"{word}:{candidate.help}" if candidate.help else word


def _format_for_fish(candidate: Candidate, last: str) -> str:
    return f"{candidate.word}\t{candidate.help}" if candidate.help else candidate.word


_FORMS: dict[str, Callable[[Candidate, str], str]] = {
    "bash": _format_for_bash,
    "zsh": _format_for_zsh,
    "fish": _format_for_fish,
}
