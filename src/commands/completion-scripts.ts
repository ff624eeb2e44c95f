import type { Shell } from '../model/completion.ts';

/** Each asks rdmatool itself for the words, so that it stays right when rdmatool is changed. */
export const COMPLETION_SCRIPTS: Readonly<Record<Shell, string>> = {
  bash: `# rdmatool(1): completion for bash
_rdmatool() {
  local -a lines
  local word=\${COMP_WORDS[COMP_CWORD]}
  mapfile -t lines < <(command "\${1:-rdmatool}" __complete bash "$COMP_LINE" "$COMP_POINT" 2>/dev/null)
  COMPREPLY=()
  # bash takes the = of --file= for a word.
  [[ $word == = ]] && word=
  case \${lines[0]} in
    :words)
      COMPREPLY=("\${lines[@]:1}")
      # No blank after what goes on.
      if [[ \${#COMPREPLY[@]} -eq 1 && \${COMPREPLY[0]} == *[=:] ]]; then compopt -o nospace 2>/dev/null; fi
      ;;
    :directories)
      compopt -o filenames 2>/dev/null
      mapfile -t COMPREPLY < <(compgen -d -- "$word")
      ;;
    :files | :command*)
      if [[ \${lines[0]} == :command* && \${COMP_WORDS[COMP_CWORD - 1]} == -- ]]; then
        mapfile -t COMPREPLY < <(compgen -c -- "$word" | sort -u)
      else
        compopt -o filenames 2>/dev/null
        mapfile -t COMPREPLY < <(compgen -f -- "$word")
      fi
      ;;
  esac
}
complete -F _rdmatool rdmatool
`,
  zsh: `#compdef rdmatool
# rdmatool(1): completion for zsh
_rdmatool() {
  local -a lines plain open
  local line kind
  lines=("\${(@f)$(command \${(Q)words[1]} __complete zsh -- "\${(@Q)words[2,CURRENT]}" 2>/dev/null)}")
  kind=$lines[1]
  shift lines
  case $kind in
    :words)
      for line in $lines; do
        # _describe takes WORD:MEANING.
        local word=\${line%%$'\\t'*} meaning=''
        [[ $line == *$'\\t'* ]] && meaning=\${line#*$'\\t'}
        if [[ $word == *[=:] ]]; then open+=("\${word//:/\\\\:}:$meaning")
        else plain+=("\${word//:/\\\\:}:$meaning"); fi
      done
      _describe -V 'rdmatool' plain -- open -S ''
      ;;
    :files) compset -P '--*='; _files ;;
    :directories) compset -P '--*='; _files -/ ;;
    :command*)
      shift \${kind#:command } words
      ((CURRENT -= \${kind#:command }))
      _normal
      ;;
  esac
}
if [[ $funcstack[1] == _rdmatool ]]; then _rdmatool "$@"; else compdef _rdmatool rdmatool; fi
`,
  fish: `# rdmatool(1): completion for fish
function __rdmatool_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l lines (command $words[1] __complete fish -- $words[2..-1] $current 2>/dev/null)
    switch "$lines[1]"
        case ':words'
            test (count $lines) -gt 1; and printf '%s\\n' $lines[2..-1]
        case ':files' ':directories'
            set -l flag (string match -r '^--[^=]*=' -- $current)
            set -l path (string replace -r '^--[^=]*=' '' -- $current)
            if test "$lines[1]" = ':files'
                __fish_complete_path "$path" | string replace -r '^' -- "$flag"
            else
                __fish_complete_directories "$path" | string replace -r '^' -- "$flag"
            end
        case ':command *'
            if test "$words[-1]" = --
                __fish_complete_command
            else
                __fish_complete_path $current
            end
    end
end
complete -c rdmatool -f -k -a '(__rdmatool_complete)'
`,
};
