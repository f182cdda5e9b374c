// Every scope, in the words of the page, of the help of `key create` and of docs/access.md. A table without imports: the page has it.

interface Described<Name> {
  name: Name
  says: string
  /** The scope that includes it. */
  within?: 'read' | 'write'
  /** Whether a developer has it, or may only give it to keys that are bound to themselves; else neither. */
  developers?: 'have' | 'give'
}

const TABLE = [
  { name: 'read', says: 'read everything but webhooks' },
  { name: 'write', says: 'send everything but audit entries' },
  { name: 'webhooks', says: 'manage webhooks' },
  { name: 'admin', says: 'manage keys, members, budgets, findings and the organization' },
  { name: 'sessions:read', says: 'read sessions', within: 'read', developers: 'have' },
  { name: 'quality:read', says: 'read quality', within: 'read', developers: 'have' },
  { name: 'cost:read', says: 'read cost', within: 'read', developers: 'have' },
  { name: 'security:read', says: 'read findings', within: 'read', developers: 'have' },
  { name: 'team:read', says: 'read members and expertise', within: 'read', developers: 'have' },
  { name: 'audit:read', says: 'read the audit log', within: 'read' },
  { name: 'risk:read', says: 'read pull requests', within: 'read', developers: 'have' },
  { name: 'sessions:write', says: 'send sessions', within: 'write', developers: 'give' },
  { name: 'commits:write', says: 'send commits', within: 'write', developers: 'give' },
  { name: 'risk:write', says: 'send pull requests, as CI does with risk:read', within: 'write' },
  { name: 'members:write', says: 'send members', within: 'write' },
  { name: 'budgets:write', says: 'send budgets', within: 'write' },
  { name: 'reports:write', says: 'send reports', within: 'write' },
  { name: 'audit:write', says: 'send audit entries, under any name' },
  { name: 'ingest', says: 'send telemetry of coding agents, and nothing else', within: 'write' },
] as const satisfies readonly Described<string>[]

export type Scope = (typeof TABLE)[number]['name']
export const SCOPE_TABLE: readonly Described<Scope>[] = TABLE
export const SCOPES = SCOPE_TABLE.map(({ name }) => name)
