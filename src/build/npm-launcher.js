#!/usr/bin/env node
// The `cloud-analytics` of the npm package: runs the executable of the package for this system, which npm installs as an
// optional dependency. Plain JavaScript for the Node of the user; packed by src/build/npm.ts.

const { spawn } = require('node:child_process')
const { constants } = require('node:os')

function target() {
  const system = process.platform === 'win32' ? 'windows' : process.platform
  // Windows on arm64 runs programs for x64
  const cpu = system === 'windows' ? 'x64' : process.arch
  return `${system}-${cpu}${system === 'linux' && !hasGlibc() ? '-musl' : ''}`
}

function hasGlibc() {
  if (process.report === undefined) return true
  // otherwise the report looks up the names of all network connections
  process.report.excludeNetwork = true
  return process.report.getReport().header.glibcVersionRuntime !== undefined
}

function findExecutable() {
  const name = `cloud-analytics-${target()}`
  try {
    return require.resolve(`${name}/cloud-analytics${process.platform === 'win32' ? '.exe' : ''}`)
  } catch {
    process.stderr.write(
      `error: ${name} is not installed: npm leaves out optional dependencies with --omit=optional, and there is no build for every system\n`,
    )
    process.exit(1)
  }
}

const child = spawn(findExecutable(), process.argv.slice(2), { stdio: 'inherit' })
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
child.on('error', (error) => {
  process.stderr.write(`error: ${error.message}\n`)
  process.exit(1)
})
child.on('exit', (code, signal) => process.exit(code ?? 128 + (constants.signals[signal] ?? 0)))
