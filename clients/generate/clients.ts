// Makes the generated files of the client libraries from the API's document: `bun run clients`.

import { join } from 'node:path'
import { version } from '../../package.json'
import { readDocument } from './document.ts'
import { goModels, goResources } from './go.ts'
import { nodeTable, nodeTypes } from './node.ts'
import { pythonModels, pythonResources } from './python.ts'

const ROOT = join(import.meta.dir, '../..')

interface Printed {
  paths: Record<string, Record<string, { description: string }>>
}

/** The API's document. */
export async function printedDocument(): Promise<Printed> {
  const printed = Bun.spawn([process.execPath, 'src/build/openapi.ts'], {
    cwd: ROOT,
    stdout: 'pipe',
    stderr: 'inherit',
  })
  return (await new Response(printed.stdout).json()) as Printed
}

/** The generated files by their path in the repository. */
export async function generatedFiles(): Promise<Map<string, string>> {
  const api = readDocument(await printedDocument())
  // PEP 440 has no other form for a version under development
  const pythonVersion = version.replace(/-dev.*/, '.dev0')
  const manifest = await Bun.file(join(ROOT, 'clients/node/package.json')).text()
  return new Map([
    ['clients/node/package.json', manifest.replace(/("version": ")[^"]*/, `$1${version}`)],
    ['clients/node/src/api.d.ts', nodeTypes(api)],
    ['clients/node/src/methods.js', nodeTable(api, version)],
    ['clients/python/cloud_analytics/models.py', pythonModels(api, pythonVersion)],
    ['clients/python/cloud_analytics/_resources.py', pythonResources(api)],
    ['clients/go/models.go', goModels(api, version)],
    ['clients/go/resources.go', goResources(api)],
  ])
}

if (import.meta.main)
  for (const [path, text] of await generatedFiles()) await Bun.write(join(ROOT, path), text)
