import { environmentLines, quoted } from './systemd.ts'

export const SERVER_UNIT = 'cloud-analytics.service'
export const SERVER_UNIT_PATH = `/etc/systemd/system/${SERVER_UNIT}`
export const SYSUSERS_PATH = '/etc/sysusers.d/cloud-analytics.conf'
export const SERVER_USER = 'cloud-analytics'
export const SERVER_DATA = '/var/lib/cloud-analytics'
export const SERVER_SETTINGS = '/etc/cloud-analytics/environment'
/** Deliveries in flight have 20 s, intake 3 s, connections 5 s, PostgreSQL the rest. */
const STOP_S = 60

/** The user that the server runs as, for `systemd-sysusers`. */
export const SYSUSERS = `u ${SERVER_USER} - "Cloud Analytics" ${SERVER_DATA} -\n`

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
