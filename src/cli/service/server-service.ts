// Installs `serve` as a system service of systemd, shows its state and removes it (`service … --server`).

import { existsSync, mkdirSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { codeOf, OperatorError } from '../../base/errors.ts'
import { replaceFile } from '../client/whole-file.ts'
import type { Context } from '../command/context.ts'
import { printMessage, printResult } from '../command/output.ts'
import { programWords } from '../command/run-self.ts'
import { load, runCommand, typed } from './system-commands.ts'
import { environmentLines, quoted } from './systemd.ts'
import type { ServiceOptions } from './user-service.ts'

/** Closed to the unit by `ProtectHome`. */
const CLOSED = /^\/(home|root|run\/user)\//

/** Nor what `PrivateTmp` replaces by an empty folder, which is removed when the unit stops. */
const CLOSED_TO_BACKUPS = /^\/(home|root|run\/user|tmp|var\/tmp)(\/|$)/

const loadCommands = (backupDir: string | null) => [
  ['systemd-sysusers', SYSUSERS_PATH],
  ...(backupDir === null
    ? []
    : [['install', '-d', '-m', '0700', '-o', SERVER_USER, '-g', SERVER_USER, backupDir]]),
  ['systemctl', 'daemon-reload'],
  ['systemctl', 'enable', SERVER_UNIT],
  ['systemctl', 'restart', SERVER_UNIT],
]

/** `service install --server`: writes the system unit of `serve` and starts it, or says how. Needs root. */
export async function install(
  { env, json, config }: Context,
  { print, databaseUrlFile }: ServiceOptions,
  paths: readonly string[],
): Promise<void> {
  if (paths.length > 0) throw new OperatorError('--server takes no paths', 2)
  if (databaseUrlFile !== undefined && !databaseUrlFile.startsWith('/'))
    throw new OperatorError('--database-url-file must be an absolute path', 2)
  // commander gives --backup-dir to the program's setting
  const { backupDir } = config
  if (backupDir !== null && (!backupDir.startsWith('/') || CLOSED_TO_BACKUPS.test(backupDir)))
    throw new OperatorError(
      '--backup-dir must be an absolute path that the service can open: not below /home, /root, /run/user, /tmp or /var/tmp',
      2,
    )
  const commands = loadCommands(backupDir)
  const words = programWords()
  const text = serverUnit(words, databaseUrlFile, backupDir)
  if (print) {
    const files = [
      { path: SYSUSERS_PATH, text: SYSUSERS },
      { path: SERVER_UNIT_PATH, text },
    ]
    const shown = files.map((file) => `# ${file.path}\n${file.text}`).join('\n')
    return await printResult(json, { files, run: typed(commands) }, shown.trimEnd())
  }
  const closed = words.find((word) => CLOSED.test(word))
  if (closed !== undefined)
    throw new OperatorError(
      `${closed} is in a folder that the service cannot open: copy the program to /usr/local/bin and run that`,
    )
  write(SYSUSERS_PATH, SYSUSERS)
  write(SERVER_UNIT_PATH, text)
  // an older systemd ignores settings that it does not know
  const verified = runCommand(['systemd-analyze', 'verify', SERVER_UNIT_PATH], env)
  if (!verified.ok) printMessage(`systemd-analyze verify: ${verified.reason}`)
  const { loaded, run } = load(commands, env)
  const started = loaded ? 'runs now and at each start of the machine' : 'is written'
  printMessage(`settings are in ${SERVER_SETTINGS}, data in ${SERVER_DATA}; commands: sudo cloud-analytics …`)
  await printResult(json, { path: SERVER_UNIT_PATH, loaded, run }, `${SERVER_UNIT_PATH} ${started}`)
}

function write(path: string, text: string): void {
  try {
    mkdirSync(dirname(path), { recursive: true })
    replaceFile(path, text, 0o644)
  } catch (error) {
    throw new OperatorError(
      `${path} cannot be written (${codeOf(error) ?? String(error)}): run it as root, or use --print`,
    )
  }
}

/** `service uninstall --server`: stops the server and deletes its unit; data and user stay. */
export async function uninstall({ env, json }: Context): Promise<void> {
  const installed = existsSync(SERVER_UNIT_PATH)
  if (installed) {
    runCommand(['systemctl', 'disable', '--now', SERVER_UNIT], env)
    try {
      rmSync(SERVER_UNIT_PATH)
      rmSync(SYSUSERS_PATH, { force: true })
    } catch (error) {
      throw new OperatorError(`${SERVER_UNIT_PATH} cannot be deleted (${codeOf(error)}): run it as root`)
    }
    runCommand(['systemctl', 'daemon-reload'], env)
  }
  const text = installed
    ? `${SERVER_UNIT} is removed; ${SERVER_DATA} stays`
    : `${SERVER_UNIT} was not installed`
  await printResult(json, { path: SERVER_UNIT_PATH, removed: installed }, text)
}

/** `service status --server`. Throws OperatorError unless it runs. */
export async function status({ env, json }: Context): Promise<void> {
  const { ok, output, reason } = runCommand(['systemctl', 'is-active', SERVER_UNIT], env)
  const state = output.trim() || reason
  await printResult(json, { path: SERVER_UNIT_PATH, running: ok, state }, `${SERVER_UNIT}: ${state}`)
  if (!ok) throw new OperatorError(`${SERVER_UNIT} does not run`)
}

const SERVER_UNIT = 'cloud-analytics.service'
const SERVER_UNIT_PATH = `/etc/systemd/system/${SERVER_UNIT}`
const SYSUSERS_PATH = '/etc/sysusers.d/cloud-analytics.conf'
const SERVER_USER = 'cloud-analytics'
const SERVER_DATA = '/var/lib/cloud-analytics'
const SERVER_SETTINGS = '/etc/cloud-analytics/environment'
/** Deliveries in flight have 20 s, intake 3 s, connections 5 s, PostgreSQL the rest. */
const STOP_S = 60

/** The user that the server runs as, for `systemd-sysusers`. */
const SYSUSERS = `u ${SERVER_USER} - "Cloud Analytics" ${SERVER_DATA} -\n`

/**
 * The system unit of `serve`. `databaseUrlFile` is a file with DATABASE_URL, which only root has to read: systemd hands it
 * over as a credential, so that it is neither in the environment nor among the arguments. `backupDir` is BACKUP_DIR, which the
 * unit cannot write unless it is named there.
 */
export function serverUnit(
  words: readonly string[],
  databaseUrlFile: string | undefined,
  backupDir: string | null,
): string {
  const database = databaseUrlFile === undefined ? '' : ' --database-url "@%d/database-url"'
  const credential =
    databaseUrlFile === undefined ? '' : `LoadCredential=database-url:${escaped(databaseUrlFile)}\n`
  const backups =
    backupDir === null
      ? ''
      : `${environmentLines({ BACKUP_DIR: backupDir })}ReadWritePaths=${quoted(backupDir)}\n`
  return `[Unit]
Description=Cloud Analytics server
Wants=network-online.target
After=network-online.target
StartLimitIntervalSec=0

[Service]
Type=exec
User=${SERVER_USER}
ExecStart=${words.map(quoted).join(' ')} serve${database}
Environment=DATA_DIR=${SERVER_DATA}
${backups}# other settings, as NAME=value; the file may be missing
EnvironmentFile=-${SERVER_SETTINGS}
${credential}StateDirectory=cloud-analytics
StateDirectoryMode=0700
UMask=0077
Restart=on-failure
RestartSec=2
# 2: wrong usage or settings, which no restart mends
RestartPreventExitStatus=2
# the server itself stops its PostgreSQL, which would wait for connections at SIGTERM
KillMode=mixed
TimeoutStopSec=${STOP_S}
LimitNOFILE=65536
# PostgreSQL recovers by itself from a process that was killed
OOMPolicy=continue

# MemoryDenyWriteExecute is missing: the program is compiled while it runs
CapabilityBoundingSet=
AmbientCapabilities=
NoNewPrivileges=yes
ProtectSystem=strict
ProtectHome=yes
PrivateTmp=yes
PrivateDevices=yes
ProtectClock=yes
ProtectControlGroups=yes
ProtectHostname=yes
ProtectKernelLogs=yes
ProtectKernelModules=yes
ProtectKernelTunables=yes
ProtectProc=invisible
RemoveIPC=yes
LockPersonality=yes
RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK
RestrictNamespaces=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
SystemCallArchitectures=native
SystemCallFilter=@system-service
SystemCallErrorNumber=EPERM

[Install]
WantedBy=multi-user.target
`
}

/** A path where systemd takes no quotes. */
const escaped = (path: string): string => path.replaceAll('%', '%%')
