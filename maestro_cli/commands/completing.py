"""`completion`: a script that teaches a shell to ask `maestro-cli complete` what may follow.

The scripts know no commands, options or names: `candidates` does, so they need no update when any of them changes.
"""

from typing import Final

from maestro_cli.command_line import COMPLETE, PROGRAM
from maestro_cli.commands.candidates import FILES
from maestro_cli.commands.session import Session
from maestro_cli.output.printing import print_answer

_BASH: Final = f"""\
_maestro_cli() {{
  local IFS=$'\\n' found word="${{COMP_WORDS[COMP_CWORD]}}"
  found=$({PROGRAM} {COMPLETE} -- "${{COMP_WORDS[@]:1:COMP_CWORD}}" 2>/dev/null)
  if [ "$found" = {FILES} ]; then
    compopt -o filenames 2>/dev/null
    COMPREPLY=($(compgen -f -- "${{word#=}}"))
  else
    COMPREPLY=($found)
  fi
}}
complete -F _maestro_cli {PROGRAM}"""

_ZSH: Final = f"""\
(( $+functions[compdef] )) || {{ autoload -Uz compinit && compinit }}
_maestro_cli() {{
  local -a found
  found=("${{(@f)$({PROGRAM} {COMPLETE} -- "${{(@)words[2,CURRENT]}}" 2>/dev/null)}}")
  if [[ "$found[1]" == {FILES} ]]; then _files; elif [[ -n "$found[1]" ]]; then compadd -- $found; fi
}}
compdef _maestro_cli {PROGRAM}"""

_FISH: Final = f"""\
function __maestro_cli
  set -l words (commandline -opc)
  set -l word (commandline -ct)
  set -a words "$word"
  set -l found ({PROGRAM} {COMPLETE} -- $words[2..-1] 2>/dev/null)
  if test "$found" = {FILES}
    __fish_complete_path "$word"
  else
    printf '%s\\n' $found
  end
end
complete -c {PROGRAM} -f -a '(__maestro_cli)'"""

_SCRIPTS: Final = {"bash": _BASH, "zsh": _ZSH, "fish": _FISH}


async def run(session: Session) -> None:
    print_answer(_SCRIPTS[session.arguments.shell])
