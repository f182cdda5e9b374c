import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { VERSION } from '../../src/base/version.ts'
import { loadConfig, SETTINGS } from '../../src/config.ts'

// The files of docs/deploy name settings, flags, paths and ports of the program: each has to exist.

const ROOT = join(import.meta.dir, '../..')
const textOf = (path: string) => readFileSync(join(ROOT, path), 'utf8')
/** The files and pages are of this release: an earlier program has not all that they name. */
const RELEASE = VERSION.replace(/-.*/, '')
const NAMES: readonly string[] = SETTINGS.map(({ name }) => name)
const SECRETS = {
  DATABASE_URL: 'postgres://user@db/analytics',
  SECRET_KEY: Buffer.alloc(32).toString('base64'),
}

/** A value where a file has a variable of the shell or of compose. */
const filled = (text: string) => text.replaceAll(/\$\{DOMAIN:\?[^}]*\}/g, 'analytics.example.com')

/** The settings as `serve` reads them: unknown names are an error here. */
function configOf(environment: Record<string, string>) {
  expect(Object.keys(environment).filter((name) => !NAMES.includes(name))).toEqual([])
  return loadConfig({ ...SECRETS, ...environment })
}

interface Service {
  image: string
  command: string[]
  environment: Record<string, string>
  secrets: string[]
  read_only: boolean
  cap_drop: string[]
  volumes?: string[]
  tmpfs: string[]
  stop_grace_period: string
}

test('compose.yaml starts two instances on one external database, with known settings', () => {
  const text = filled(textOf('docs/deploy/compose.yaml'))
  const compose = Bun.YAML.parse(text) as {
    services: Record<string, Service>
    secrets: object
    volumes: object
  }
  const { caddy, ...instances } = compose.services
  expect(Object.keys(instances)).toEqual(['analytics-1', 'analytics-2'])
  for (const service of Object.values(instances)) {
    expect(service.image).toBe(`cloud-analytics:${RELEASE}`)
    expect(service.read_only).toBe(true)
    expect(service.cap_drop).toEqual(['ALL'])
    expect(Number.parseInt(service.stop_grace_period, 10)).toBeGreaterThan(30)
    const config = configOf(service.environment)
    expect(config).toMatchObject({
      host: '0.0.0.0',
      trustProxy: 1,
      publicUrl: 'https://analytics.example.com',
    })
    const [command, ...flags] = service.command
    expect(command).toBe('serve')
    expect(flags.filter((flag) => flag.startsWith('--'))).toEqual(['--database-url', '--secret-key'])
    for (const secret of service.secrets) {
      expect(flags).toContain(`@/run/secrets/${secret}`)
      expect(compose.secrets).toHaveProperty(secret)
    }
    // every folder that the settings name is writable, although the root is read-only
    const writable = [...(service.volumes ?? []), ...service.tmpfs].join(' ')
    for (const folder of [config.backupDir, '/var/lib/cloud-analytics', '/tmp']) {
      if (folder !== null) expect(writable).toContain(folder.replace(/\/backups$/, ''))
    }
  }
  expect(
    Object.values(instances).filter(({ environment }) => environment.BACKUP_EVERY !== undefined),
  ).toHaveLength(1)
  // the proxy sends requests to both
  expect(caddy?.image).toStartWith('caddy:')
  const proxy = textOf('docs/deploy/Caddyfile')
  expect(proxy).toContain(
    `reverse_proxy ${Object.keys(instances)
      .map((name) => `${name}:8080`)
      .join(' ')} {`,
  )
  expect(proxy).toContain('health_uri /ready')
})

interface Container {
  image: string
  args: string[]
  env: { name: string; value?: string; valueFrom?: { secretKeyRef: { name: string; key: string } } }[]
  ports: { name: string; containerPort: number }[]
  securityContext: object
  volumeMounts: { name: string; mountPath: string }[]
}

test('the manifests run it as the image does, with known settings, an existing secret and a read-only root', () => {
  const documents = Bun.YAML.parse(textOf('docs/deploy/kubernetes.yaml')) as { kind: string; spec: never }[]
  expect(documents.map(({ kind }) => kind)).toEqual([
    'Deployment',
    'Service',
    'PodDisruptionBudget',
    'NetworkPolicy',
    'Ingress',
  ])
  const { spec: pod } = (documents[0] as unknown as { spec: { template: { spec: Record<string, unknown> } } })
    .spec.template
  expect(pod.securityContext).toMatchObject({ runAsNonRoot: true, runAsUser: 10001 })
  expect(textOf('Dockerfile')).toContain('USER 10001:10001')
  expect(pod.terminationGracePeriodSeconds).toBeGreaterThan(30)
  const [container] = pod.containers as [
    Container & Record<string, { httpGet: { path: string; port: string } }>,
  ]
  expect(container.image).toEndWith(`cloud-analytics:${RELEASE}`)
  expect(container.args).toEqual(['serve'])
  expect(container.securityContext).toEqual({
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ['ALL'] },
  })
  const plain = container.env.filter(({ value }) => value !== undefined)
  const config = configOf(Object.fromEntries(plain.map(({ name, value = '' }) => [name, value])))
  expect(config).toMatchObject({ host: '0.0.0.0', adminHost: '0.0.0.0', trustProxy: 1 })
  const ports = Object.fromEntries(container.ports.map(({ name, containerPort }) => [name, containerPort]))
  expect(ports).toEqual({ http: config.port, metrics: config.adminPort ?? 0 })
  const fromSecret = container.env.filter(
    ({ valueFrom }) => valueFrom?.secretKeyRef.name === 'cloud-analytics',
  )
  expect(fromSecret.map(({ name }) => name)).toEqual(Object.keys(SECRETS))
  expect([...plain, ...fromSecret]).toHaveLength(container.env.length)
  // the folders of the settings are writable
  expect(container.volumeMounts.map(({ mountPath }) => mountPath)).toEqual([
    '/var/lib/cloud-analytics',
    '/tmp',
  ])
  expect(container.startupProbe?.httpGet).toEqual({ path: '/live', port: 'http' })
  expect(container.livenessProbe?.httpGet).toEqual({ path: '/live', port: 'http' })
  expect(container.readinessProbe?.httpGet).toEqual({ path: '/ready', port: 'http' })
})

test('the Dockerfile names the version, and settings that exist', () => {
  const text = textOf('Dockerfile')
  expect(text).toContain(`ARG VERSION=${VERSION}\n`)
  const [, settings = ''] = /^ENV (.*)$/m.exec(text) ?? []
  configOf(Object.fromEntries(settings.split(' ').map((pair) => pair.split('=') as [string, string])))
})

test('alerts.yml is YAML with rules', () => {
  const alerts = Bun.YAML.parse(textOf('docs/alerts.yml')) as {
    groups: { rules: { alert: string; expr: string }[] }[]
  }
  expect(
    alerts.groups.flatMap(({ rules }) => rules).every(({ alert, expr }) => alert !== '' && expr !== ''),
  ).toBe(true)
})

test('the pages name this release', () => {
  const named = ['operations', 'webhooks'].flatMap((page) => [
    ...textOf(`docs/${page}.md`).matchAll(/(?:cloud-analytics[-:]|CloudAnalytics\/)(\d+\.\d+\.\d+)/g),
  ])
  expect(named.length).toBeGreaterThan(4)
  expect(named.filter(([, version]) => version !== RELEASE)).toEqual([])
})
