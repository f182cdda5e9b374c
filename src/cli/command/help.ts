/** The text below a command's help, for `addHelpText`: a command line as an example. */
export const example = (words: string): ['after', string] => [
  'after',
  `\nExample:\n  cloud-analytics ${words}`,
]
