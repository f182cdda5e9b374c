import { type Place, quoted, stepsOf } from './places.ts'

/** The script for zsh, to be sourced or kept as _cloud-analytics in a folder of $fpath. */
export function zshScript(places: readonly Place[]): string {
  const described = (items: readonly { name: string; description: string }[]) =>
    items
      .map(({ name, description }) => quoted(description === '' ? name : `${name}:${description}`))
      .join(' ')
  const list = (names: readonly string[]) => names.map(quoted).join(' ')
  const steps = stepsOf(places).map(
    ({ from, typed, to }) =>
      `      ${typed.map((word) => quoted(`${from}/${word}`)).join('|')}) place=${quoted(to)} ;;`,
  )
  const tables = places.map(
    ({ path, words, flags, takesArguments }) =>
      `    ${quoted(path)})
      commands=(${described(words)})
      flags=(${described(flags)})
      valued=(${list(flags.filter(({ takesValue }) => takesValue).map(({ name }) => name))})
      files=${takesArguments ? '1' : ''} ;;`,
  )
  const choices = places.flatMap(({ path, flags }) =>
    flags
      .filter((flag) => flag.choices.length > 0)
      .map((flag) => `      ${quoted(`${path}/${flag.name}`)}) compadd -- ${list(flag.choices)} ;;`),
  )
  return `#compdef cloud-analytics
# Completion of cloud-analytics for zsh. Load it in ~/.zshrc, behind compinit: source <(cloud-analytics completion zsh)
_cloud_analytics_table() {
  case "$1" in
${tables.join('\n')}
  esac
}
_cloud_analytics() {
  local place='' previous='' files='' word index
  local -a commands flags valued
  _cloud_analytics_table ''
  for ((index = 2; index < CURRENT; index++)); do
    word="\${words[index]}"
    if [[ -n $previous ]]; then
      previous=''
      continue
    fi
    if (( \${valued[(Ie)$word]} )); then
      previous="$word"
      continue
    fi
    case "$place/$word" in
${steps.join('\n')}
    esac
    _cloud_analytics_table "$place"
  done
  if [[ -n $previous ]]; then
    case "$place/$previous" in
${choices.join('\n')}
      *) _files ;;
    esac
  elif [[ "\${words[CURRENT]}" == -* || ( \${#commands} == 0 && -z $files ) ]]; then
    _describe -o option flags
  else
    (( \${#commands} )) && _describe command commands
    [[ -n $files ]] && _files
  fi
}
if [[ "\${funcstack[1]}" == _cloud_analytics ]]; then
  _cloud_analytics "$@"
else
  compdef _cloud_analytics cloud-analytics
fi`
}
