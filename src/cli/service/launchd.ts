// Describes the service of `watch` on macOS: a launch agent.

import { join } from 'node:path'
import type { Program, UserService } from './user-service.ts'

const LABEL = 'com.cloud-analytics.watch'
/** A program that failed starts again after this time. */
const THROTTLE_S = 30

/** The launch agent of a user of macOS. `home` and `uid` are the user's. */
export function launchAgent(program: Program, home: string, uid: number): UserService {
  const path = join(home, 'Library', 'LaunchAgents', `${LABEL}.plist`)
  const text = plist(program, join(home, 'Library', 'Logs', 'cloud-analytics-watch.log'))
  const target = `gui/${uid}/${LABEL}`
  return {
    name: LABEL,
    path,
    text,
    load: [['launchctl', 'bootstrap', `gui/${uid}`, path]],
    unload: [['launchctl', 'bootout', target]],
    forget: [],
    status: ['launchctl', 'print', target],
    isRunning: (output) => /^\s*state = running$/m.test(output),
  }
}

/** Restarted only when it fails: with `KeepAlive` alone also after a stop that was asked for. */
function plist({ words, environment }: Program, log: string): string {
  const strings = (values: readonly string[]) =>
    values.map((value) => `\t\t<string>${Bun.escapeHTML(value)}</string>\n`).join('')
  const variables = Object.entries(environment)
    .map(([name, value]) => `\t\t<key>${name}</key>\n${strings([value])}`)
    .join('')
  return `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
\t<key>Label</key>
\t<string>${LABEL}</string>
\t<key>ProgramArguments</key>
\t<array>
${strings(words)}\t</array>
${variables === '' ? '' : `\t<key>EnvironmentVariables</key>\n\t<dict>\n${variables}\t</dict>\n`}\t<key>RunAtLoad</key>
\t<true/>
\t<key>KeepAlive</key>
\t<dict>
\t\t<key>SuccessfulExit</key>
\t\t<false/>
\t</dict>
\t<key>ThrottleInterval</key>
\t<integer>${THROTTLE_S}</integer>
\t<key>ProcessType</key>
\t<string>Background</string>
\t<key>LowPriorityIO</key>
\t<true/>
\t<key>StandardErrorPath</key>
\t<string>${Bun.escapeHTML(log)}</string>
</dict>
</plist>
`
}
