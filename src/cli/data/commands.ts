// Declares the commands that move records: `sync`, `import`, `export` and `seed`.

import { Option } from 'commander'
import { USER_HELP } from '../client/commands.ts'
import { type CliCommand, KEY_HELP } from '../command/cli-command.ts'
import { duration, integer, since } from '../command/option-parsers.ts'

const MAX_SEED_SESSIONS = 10_000_000

export function addData(program: CliCommand): void {
  addSync(program)
  program
    .add('import <file>', 'take in NDJSON records, as export writes them; - reads standard input')
    .org()
    .option('--restore', 'also sessions that were deleted')
    .notes('What is packed by gzip or zstd is unpacked.')
    .examples('import backup.ndjson --org acme')
    .load(async () => (await import('./import.ts')).importRecords)
  program
    .add('export', 'write every record as NDJSON to standard output, in the form that import takes')
    .org()
    .examples('export --org acme > acme.ndjson')
    .load(async () => (await import('./export.ts')).exportRecords)
  program
    .add('seed', 'make sample sessions for benchmarks; the same seed makes the same')
    .org()
    .requiredOption('--sessions <n>', 'how many', integer(1, MAX_SEED_SESSIONS))
    .option('--commits <n>', 'commits too', integer(0, MAX_SEED_SESSIONS), 0)
    .option('--risk <n>', 'risk scores of pull requests too', integer(0, MAX_SEED_SESSIONS), 0)
    .option('--audit <n>', 'audit entries too', integer(0, MAX_SEED_SESSIONS), 0)
    .option('--projects <n>', 'spread over so many projects', integer(1, 99), 12)
    .option('--branches <n>', 'branches of half of the sessions (200)', integer(1, MAX_SEED_SESSIONS))
    .option(
      '--tickets <n>',
      'tickets of the other half, each with a branch (5000)',
      integer(0, MAX_SEED_SESSIONS),
    )
    .option('--days <n>', 'spread over so many days before today', integer(1, 3_650), 180)
    .option('--seed <k>', 'start of the random numbers', integer(0, 4_294_967_295), 1)
    .examples('seed --org acme --sessions 100000')
    .load(async () => (await import('./seed.ts')).seed)
}

function addSync(program: CliCommand): void {
  program
    .add(
      'sync [path...]',
      'read what coding agents left on disk and send it to a server, or to the local database',
    )
    .option('--org <slug>', 'slug of the organization, in the local database')
    .server(`${KEY_HELP}; with the scopes sessions:write and commits:write, or write`)
    .project()
    .option('--user <email>', USER_HELP)
    .option('--content', 'send prompts and answers too')
    .option('--dry-run', 'print the records that would be sent, and send nothing')
    .option(
      '--since <day>',
      'only sessions of files written to since a day (2026-11-01), or so long ago (7d)',
      since,
    )
    .option('--resend', 'forget what the server was sent, and send everything again')
    .addOption(new Option('--all', 'the former name of --resend').hideHelp())
    .option('--restore', 'send everything again, and have the server store also what was deleted there')
    .option(
      '--settled <duration>',
      'leave out sessions written to within this time (30s), unless last sent ten times as long ago',
      duration(3_600_000),
    )
    .option('--quiet', 'print nothing unless something is wrong')
    .option('--yes', "without a path: send what is in the agents' usual folders without asking")
    .option('--reassign', 'give sessions that have another user to this one')
    .notes(`Reads the sessions of Claude Code, Codex, Gemini CLI, OpenCode, Copilot CLI, Cursor and the other agents of docs/agents.md,
distinguished by content; and of a git repository the commits of its current branch.
Prompts, answers and tool outputs stay on this machine unless --content is given.
Without a path the agents' usual folders are listed and, after a yes, read. A file that is as it was when the server answered for it is not read again.`)
    .examples(
      'sync ~/.claude/projects ~/.codex/sessions --org acme',
      'sync ~/code/checkout --org acme',
      'sync                                   (after login: finds what there is, and asks)',
      'sync log.jsonl --dry-run',
    )
    .load(async () => (await import('../sync/sync.ts')).sync)
}
