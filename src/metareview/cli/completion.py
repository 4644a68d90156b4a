"""`metareview completion`: what a shell needs to complete commands, options, names and files.

click asks the same of every shell: it is called with the line so far in the environment, and answers with words. Its
script for bash cannot mix names and files, takes a metric's `=` for the end of a word and puts a space behind it; so we
bring our own.
"""

from __future__ import annotations

import os

import click
from click.shell_completion import BashComplete, add_completion_class, get_completion_class, split_arg_string

from metareview.cli.options import choice_argument, common_options
from metareview.cli.output import Screen

VARIABLE = "_METAREVIEW_COMPLETE"
"""The environment's name by which a shell asks; click makes it of the program's."""
SHELLS = ("bash", "zsh", "fish")

_BASH = """\
%(complete_func)s() {
    local line="${COMP_LINE:0:COMP_POINT}" kind value files="" spaces=""
    local word="${line##*[[:space:]]}"
    # What bash takes for an earlier word, such as `f1=`, stays as it is.
    local before="${word%%"${word##*["$COMP_WORDBREAKS"]}"}"
    COMPREPLY=()
    while IFS=, read -r kind value; do
        case "$kind" in
            file | dir) files="$kind" ;;
            plain) COMPREPLY+=("${value#"$before"}"); [[ "$value" == *" "* ]] && spaces=1 ;;
        esac
    done < <(COMP_WORDS="$line" %(complete_var)s=bash_complete "$1" 2>/dev/null)
    if [[ -n "$files" && ${#COMPREPLY[@]} -eq 0 ]]; then
        [[ "$files" == dir ]] && compopt -o dirnames 2>/dev/null || compopt -o default 2>/dev/null
    elif [[ -n "$files" ]]; then
        while IFS= read -r value; do COMPREPLY+=("${value#"$before"}"); done < <(compgen -f -- "$word")
        spaces=1
    fi
    [[ -n "$spaces" ]] && compopt -o filenames 2>/dev/null
    [[ ${#COMPREPLY[@]} -eq 1 && "${COMPREPLY[0]}" == *= ]] && compopt -o nospace 2>/dev/null
    return 0
}
complete -o nosort -F %(complete_func)s %(prog_name)s
"""


class Bash(BashComplete):
    """Gets the whole line, not the words that bash makes of it."""

    source_template = _BASH

    def get_completion_args(self) -> tuple[list[str], str]:
        line = os.environ.get("COMP_WORDS", "")
        words = split_arg_string(line)[1:]
        incomplete = words.pop() if words and not line[-1].isspace() else ""
        return words, incomplete


def use_our_bash() -> None:
    """From now on, click answers bash in our way."""
    add_completion_class(Bash)


def _script(shell: str) -> str:
    """What a shell is to run once."""
    use_our_bash()
    found = get_completion_class(shell)
    assert found is not None, shell
    root = click.get_current_context().find_root().command
    return found(root, {}, "metareview", VARIABLE).source().rstrip("\n") + "\n"


@click.command(epilog="Example: metareview completion bash >> ~/.bashrc")
@choice_argument("shell", *SHELLS)
@common_options
def command(shell: str, screen: Screen) -> None:
    """Print what a shell needs to complete commands, options, judges, routers, formats, metrics, data sets and files.

    bash: eval "$(metareview completion bash)" in ~/.bashrc; zsh likewise in ~/.zshrc; fish: metareview completion fish
    > ~/.config/fish/completions/metareview.fish
    """
    script = _script(shell)
    if screen.as_json:
        screen.show({"schema": "metareview.completion/1", "shell": shell, "script": script})
    else:
        click.echo(script, nl=False)
