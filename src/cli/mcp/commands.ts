import type { CliCommand } from '../command/cli-command.ts'

export function addMcp(program: CliCommand): void {
  program
    .add('mcp', 'serve the tools for agents on standard input and output, by the login')
    .notes(
      `Agents start it: what they ask is sent to the server of the login, and the tools are those that its key allows. To add it to
an agent: claude mcp add --scope user cloud-analytics -- cloud-analytics mcp`,
    )
    .examples('mcp')
    .load(async () => (await import('./stdio.ts')).serveTools)
}
