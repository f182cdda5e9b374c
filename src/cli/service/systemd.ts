// Describes the service of `watch` on Linux: a unit of the user's systemd; and writes values of units.

import { join } from 'node:path'
import type { Program, UserService } from './user-service.ts'

const UNIT = 'cloud-analytics-watch.service'

/** The unit of a user's systemd; `config` is the user's configuration folder, `~/.config`. */
export function userUnit(program: Program, config: string): UserService {
  const text = unitText(program)
  return {
    name: UNIT,
    path: join(config, 'systemd', 'user', UNIT),
    text,
    load: [
      ['systemctl', '--user', 'daemon-reload'],
      ['systemctl', '--user', 'enable', UNIT],
      // this also replaces an older one that runs
      ['systemctl', '--user', 'restart', UNIT],
    ],
    unload: [['systemctl', '--user', 'disable', '--now', UNIT]],
    forget: [['systemctl', '--user', 'daemon-reload']],
    status: ['systemctl', '--user', 'is-active', UNIT],
    isRunning: (output) => output.trim() === 'active',
  }
}

const unitText = (program: Program): string => `[Unit]
Description=Cloud Analytics: sends the sessions of coding agents
# tries again for ever
StartLimitIntervalSec=0

[Service]
Type=exec
ExecStart=${commandLine(program.words)}
${environmentLines(program.environment)}Restart=on-failure
RestartSec=30
# 2: wrong usage or settings, which no restart mends
RestartPreventExitStatus=2
Nice=10
IOSchedulingClass=idle
NoNewPrivileges=yes

[Install]
WantedBy=default.target
`

const ESCAPED: Readonly<Record<string, string>> = {
  '\\': '\\\\',
  '"': '\\"',
  '\n': '\\n',
  '\t': '\\t',
  '%': '%%',
}

/** Puts a text in double quotes and escapes what systemd reads in them: C escapes, and specifiers such as %h. */
export const quoted = (text: string): string =>
  `"${text.replace(/[\\"\n\t%]/g, (char) => ESCAPED[char] ?? char)}"`

/** The value of `ExecStart=`. In arguments `$` begins a variable; in the path of the executable it does not. */
export const commandLine = ([executable, ...others]: Program['words']): string =>
  [quoted(executable), ...others.map((word) => quoted(word).replaceAll('$', '$$$$'))].join(' ')

export const environmentLines = (environment: Program['environment']): string =>
  Object.entries(environment)
    .map(([name, value]) => `Environment=${quoted(`${name}=${value}`)}\n`)
    .join('')
