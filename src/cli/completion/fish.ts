import { type Flag, type Place, stepsOf } from './places.ts'

/** The text between single quotes, as fish reads it. */
const quoted = (text: string): string => `'${text.replace(/[\\']/g, '\\$&')}'`

/** The script for fish 3. */
export function fishScript(places: readonly Place[]): string {
  const steps = stepsOf(places).map(
    ({ from, typed, to }) =>
      `            case ${typed.map((word) => quoted(`${from}/${word}`)).join(' ')}\n                set place ${quoted(to)}`,
  )
  const valued = places.flatMap(({ path, flags }) => {
    const names = flags.filter(({ takesValue }) => takesValue).map(({ name }) => name)
    return names.length === 0
      ? []
      : [
          `            case ${names.map((name) => quoted(`${path}/${name}`)).join(' ')}\n                set skip 1`,
        ]
  })
  return `# Completion of cloud-analytics for fish. Keep it as ~/.config/fish/completions/cloud-analytics.fish
function __cloud_analytics_at
    set -l place ''
    set -l skip 0
    set -l words (commandline -opc)
    for word in $words[2..-1]
        if test $skip = 1
            set skip 0
            continue
        end
        switch "$place/$word"
${[...valued, ...steps].join('\n')}
        end
    end
    test "$place" = "$argv[1]"
end
complete -c cloud-analytics -e
${places.flatMap(linesOf).join('\n')}`
}

function linesOf({ path, words, flags, takesArguments }: Place): string[] {
  const start = `complete -c cloud-analytics -n ${quoted(`__cloud_analytics_at ${quoted(path)}`)}`
  const about = (description: string) => (description === '' ? '' : ` -d ${quoted(description)}`)
  return [
    ...(takesArguments ? [] : [`${start} -f`]),
    ...words.map(({ name, description }) => `${start} -a ${quoted(name)}${about(description)}`),
    ...flags.map((flag) => `${start} -l ${flag.name.slice(2)}${valueWords(flag)}${about(flag.description)}`),
  ]
}

function valueWords({ takesValue, choices }: Flag): string {
  if (!takesValue) return ''
  return choices.length === 0 ? ' -r -F' : ` -x -a ${quoted(choices.join(' '))}`
}
