import type { Shell } from '../model/completion.ts';

/** Each asks rdmatool itself for the words, so that it stays right when rdmatool is changed. */
export const COMPLETION_SCRIPTS: Readonly<Record<Shell, string>> = {
  bash: `# rdmatool(1): completion for bash
_rdmatool() {
  local IFS=$'\\n' lines kind
  lines=($(command "\${1:-rdmatool}" __complete bash "$COMP_LINE" "$COMP_POINT" 2>/dev/null)) || return
  kind=\${lines[0]}
  COMPREPLY=()
  case $kind in
    :words)
      COMPREPLY=("\${lines[@]:1}")
      # No blank after what goes on.
      if [[ \${#COMPREPLY[@]} -eq 1 && \${COMPREPLY[0]} == *[=:] ]]; then compopt -o nospace 2>/dev/null; fi
      ;;
    :files)
      compopt -o filenames 2>/dev/null
      COMPREPLY=($(compgen -f -- "\${COMP_WORDS[COMP_CWORD]}"))
      ;;
    :directories)
      compopt -o filenames 2>/dev/null
      COMPREPLY=($(compgen -d -- "\${COMP_WORDS[COMP_CWORD]}"))
      ;;
    :command*)
      if [[ \${COMP_WORDS[COMP_CWORD - 1]} == -- ]]; then
        COMPREPLY=($(compgen -c -- "\${COMP_WORDS[COMP_CWORD]}" | sort -u))
      else
        compopt -o filenames 2>/dev/null
        COMPREPLY=($(compgen -f -- "\${COMP_WORDS[COMP_CWORD]}"))
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
    :files) _files ;;
    :directories) _files -/ ;;
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
        case ':files'
            __fish_complete_path $current
        case ':directories'
            __fish_complete_directories $current
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
