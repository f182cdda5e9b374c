// Describes the service of `watch` on Windows: a task of the Task Scheduler.

import { win32 } from 'node:path'
import type { Program, UserService } from './user-service.ts'

const TASK = 'Cloud Analytics watch'

/** A task of Windows' Task Scheduler that starts when the user logs on, `DOMAIN\name`; `config` is the program's folder. */
export function scheduledTask(
  program: Program,
  { account, config }: { account: string; config: string },
): UserService {
  const path = win32.join(config, 'watch-task.xml')
  const text = taskXml(program, account)
  return {
    name: TASK,
    path,
    text,
    bytes: utf16(text),
    load: [
      ['schtasks', '/Create', '/TN', TASK, '/XML', path, '/F'],
      ['schtasks', '/Run', '/TN', TASK],
    ],
    unload: [
      ['schtasks', '/End', '/TN', TASK],
      ['schtasks', '/Delete', '/TN', TASK, '/F'],
    ],
    forget: [],
    // schtasks says it in the language of the user
    status: ['powershell', '-NoProfile', '-Command', `(Get-ScheduledTask -TaskName '${TASK}').State`],
    isRunning: (output) => output.trim() === 'Running',
  }
}

/** Adds a byte order mark: `schtasks` takes a file that it declares as UTF-16. */
const utf16 = (text: string): Uint8Array => new Uint8Array(Buffer.from(`\ufeff${text}`, 'utf16le'))

/** A console program of a task opens a window in the user's session; `conhost --headless` gives it a console without one. */
function taskXml({ words, environment }: Program, account: string): string {
  const variables = Object.entries(environment).map(([name, value]) => `set "${name}=${value}"&& `)
  const command = words.map(argument).join(' ')
  // a task has no variables of its own: cmd sets them
  const run = variables.length === 0 ? command : `cmd.exe /d /s /c "${variables.join('')}${command}"`
  return `<?xml version="1.0" encoding="UTF-16"?>
<Task version="1.2" xmlns="http://schemas.microsoft.com/windows/2004/02/mit/task">
  <RegistrationInfo>
    <Description>Sends the sessions of coding agents</Description>
    <URI>\\${TASK}</URI>
  </RegistrationInfo>
  <Triggers>
    <LogonTrigger>
      <Enabled>true</Enabled>
      <UserId>${Bun.escapeHTML(account)}</UserId>
    </LogonTrigger>
  </Triggers>
  <Principals>
    <Principal id="Author">
      <UserId>${Bun.escapeHTML(account)}</UserId>
      <LogonType>InteractiveToken</LogonType>
      <RunLevel>LeastPrivilege</RunLevel>
    </Principal>
  </Principals>
  <Settings>
    <MultipleInstancesPolicy>IgnoreNew</MultipleInstancesPolicy>
    <DisallowStartIfOnBatteries>false</DisallowStartIfOnBatteries>
    <StopIfGoingOnBatteries>false</StopIfGoingOnBatteries>
    <StartWhenAvailable>true</StartWhenAvailable>
    <ExecutionTimeLimit>PT0S</ExecutionTimeLimit>
    <Priority>7</Priority>
    <RestartOnFailure>
      <Interval>PT1M</Interval>
      <Count>255</Count>
    </RestartOnFailure>
  </Settings>
  <Actions Context="Author">
    <Exec>
      <Command>%SystemRoot%\\System32\\conhost.exe</Command>
      <Arguments>${Bun.escapeHTML(`--headless ${run}`)}</Arguments>
    </Exec>
  </Actions>
</Task>
`
}

/** An argument as Windows programs split them: in quotes where it has blanks, backslashes before a quote doubled. */
export function argument(text: string): string {
  if (text !== '' && !/[\s"]/.test(text)) return text
  const escaped = text.replace(/(\\*)"/g, '$1$1\\"').replace(/\\+$/, '$&$&')
  return `"${escaped}"`
}
