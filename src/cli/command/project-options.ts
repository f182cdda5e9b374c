import { Option } from 'commander'

// `sync` and `watch` name the project of what they read by these options.

export const PROJECT_HELP = 'project of all that is read (the name of the repository, else of the folder)'

export const projectFromOption = (): Option =>
  new Option(
    '--project-from <place>',
    'what names a session: its repository, or the folder in which it began',
  ).choices(['repository', 'folder'])
