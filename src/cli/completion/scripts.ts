// The scripts of `completion` for shells. They ask the program itself for the words that may follow: a name and its description
// in each line. Without any, names of files may follow.

import { shellWord } from '../../base/text.ts'
import { programWords } from '../command/run-self.ts'

const ask = `${programWords().map(shellWord).join(' ')} complete --`

/** The script for each shell: bash 3.2 and later, zsh, fish 3. */
export const SCRIPTS = {
  bash: `# Completion of cloud-analytics for bash. Load it in ~/.bashrc: source <(cloud-analytics completion bash)
_cloud_analytics() {
  local word
  COMPREPLY=()
  while IFS=$'\\t' read -r word _; do COMPREPLY+=("$word"); done < <(
    ${ask} "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null
  )
}
complete -o default -F _cloud_analytics cloud-analytics`,
  zsh: `#compdef cloud-analytics
# Completion of cloud-analytics for zsh. Load it in ~/.zshrc, behind compinit: source <(cloud-analytics completion zsh)
_cloud_analytics() {
  local -a lines
  lines=(\${(f)"$(${ask} "\${(@)words[2,CURRENT]}" 2>/dev/null)"})
  lines=("\${(@)lines/$'\\t'/:}")
  if (( \${#lines} )); then _describe word lines; else _files; fi
}
if [[ "\${funcstack[1]}" == _cloud_analytics ]]; then
  _cloud_analytics "$@"
else
  compdef _cloud_analytics cloud-analytics
fi`,
  fish: `# Completion of cloud-analytics for fish. Keep it as ~/.config/fish/completions/cloud-analytics.fish
function __cloud_analytics
    set -l words (commandline -opc) (commandline -ct)
    set -l lines (${ask} $words[2..-1] 2>/dev/null)
    if set -q lines[1]
        printf '%s\\n' $lines
    else
        __fish_complete_path (commandline -ct)
    end
end
complete -c cloud-analytics -e
complete -c cloud-analytics -f -a '(__cloud_analytics)'`,
} as const
