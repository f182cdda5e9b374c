import { addNote, deleteNote, listNotes } from '../../features/notes/queries.ts'
import type { CliCommand } from '../command/cli-command.ts'
import { type Args, type Context, changeOrganization } from '../command/context.ts'
import { printResult } from '../command/output.ts'
import { listed } from './list-command.ts'

export function addNotes(program: CliCommand): void {
  const note = program.add('note', 'notes of days, which stand in the charts').alias('notes')
  note
    .add('add <text>', 'add a note to a day')
    .org()
    .requiredOption('--day <day>', 'the day, as 2026-11-23')
    .option('--project <project>', 'it concerns this project')
    .option('--team <team>', 'it concerns this team')
    .examples('note add --org acme --day 2026-11-23 "opus is the default model"')
    .run(add)
  note
    .add('list', 'list the notes')
    .org()
    .examples('note list --org acme')
    .run(listed(listNotes, ['id', 'day', 'text', 'project', 'team'], 'no note'))
  note.add('delete <id>', 'delete a note').org().examples('note delete --org acme note_5h2k8d').run(remove)
}

async function add(
  context: Context,
  { org, day, project, team }: { org: string; day: string; project?: string; team?: string },
  [text]: Args,
): Promise<void> {
  const { checkUsage } = await import('./write-record.ts')
  const scope = { ...(project !== undefined && { project }), ...(team !== undefined && { team }) }
  const note = { day, text, ...scope }
  checkUsage({ type: 'note', id: 'note_new', ...note })
  const added = await changeOrganization(context, org, (tx, orgId, actor) => addNote(tx, orgId, actor, note))
  await printResult(context.json, added, `${added.id} on ${day}`)
}

async function remove(context: Context, { org }: { org: string }, [id]: Args): Promise<void> {
  await changeOrganization(context, org, (tx, orgId, actor) => deleteNote(tx, orgId, actor, id))
  await printResult(context.json, { deleted: id }, `${id} is deleted`)
}
