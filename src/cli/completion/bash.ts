import { type Place, quoted, stepsOf } from './places.ts'

/** The script for bash 3.2 and later. */
export function bashScript(places: readonly Place[]): string {
  const join = (words: readonly string[]) => quoted(words.join(' '))
  const steps = stepsOf(places).map(
    ({ from, typed, to }) =>
      `      ${typed.map((word) => quoted(`${from}/${word}`)).join('|')}) place=${quoted(to)} ;;`,
  )
  const tables = places.map(({ path, words, flags, takesArguments }) => {
    const names = words.map(({ name }) => name)
    // flags are shown without a dash if nothing else can stand there
    const plain = names.length > 0 || takesArguments ? names : flags.map(({ name }) => name)
    const valued = flags.filter(({ takesValue }) => takesValue).map(({ name }) => name)
    return `    ${quoted(path)}) words=${join(plain)} flags=${join(flags.map(({ name }) => name))} valued=${join(valued)} ;;`
  })
  const choices = places.flatMap(({ path, flags }) =>
    flags
      .filter((flag) => flag.choices.length > 0)
      .map((flag) => `      ${quoted(`${path}/${flag.name}`)}) words=${join(flag.choices)} ;;`),
  )
  return `# Completion of cloud-analytics for bash. Load it in ~/.bashrc: source <(cloud-analytics completion bash)
_cloud_analytics_table() {
  case "$1" in
${tables.join('\n')}
  esac
}
_cloud_analytics() {
  local current="\${COMP_WORDS[COMP_CWORD]}" place='' previous='' word index words flags valued
  COMPREPLY=()
  _cloud_analytics_table ''
  for ((index = 1; index < COMP_CWORD; index++)); do
    word="\${COMP_WORDS[index]}"
    if [[ -n $previous ]]; then
      previous=''
      continue
    fi
    if [[ " $valued " == *" $word "* ]]; then
      previous="$word"
      continue
    fi
    case "$place/$word" in
${steps.join('\n')}
    esac
    _cloud_analytics_table "$place"
  done
  if [[ -n $previous ]]; then
    words=''
    case "$place/$previous" in
${choices.join('\n')}
    esac
  elif [[ $current == -* ]]; then
    words="$flags"
  fi
  while IFS= read -r word; do COMPREPLY+=("$word"); done < <(compgen -W "$words" -- "$current")
}
# without a word of ours, names of files
complete -o default -F _cloud_analytics cloud-analytics`
}
