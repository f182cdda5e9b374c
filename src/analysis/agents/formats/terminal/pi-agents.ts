// Reads the usage of sub-agents of Pi, its extensions and Oh My Pi. The result of a tool states what they used, and names their
// files or their run. A file may be read too, before or after the result, or never: then the result is all that is known.

import { objectsIn } from '../../transcript/contents.ts'
import { type Json, listOf, objectOf, textOf, valueAt } from '../../transcript/json.ts'
import { addTokens, isNothing, noTokens, reportedCost, tokensBy } from '../../transcript/source-file.ts'
import type { Transcript } from '../../transcript/transcript.ts'
import type { ApiMessage } from '../../transcript/transcript-model.ts'

export const usedBy = (usage: unknown, model: string | null): Omit<ApiMessage, 'id'> => {
  const cost = valueAt(usage, 'cost')
  return {
    model,
    tokens: tokensOf(usage),
    cost: reportedCost(typeof cost === 'number' ? cost : objectOf(cost).total),
  }
}

const tokensOf = tokensBy('input output cacheRead cacheWrite', false)

/** The use that a result states, as calls. `agent`: the name of the sub-agent whose file has the calls themselves. */
export function usedByTool(
  { usage, details, toolName }: Json,
  id: string,
): (ApiMessage & { agent: string | null })[] {
  const run = objectOf(details)
  // a task of Oh My Pi has its sum beside the results
  const sum = usage ?? (toolName === 'task' ? run.usage : undefined)
  const runs = [run, ...objectsIn(run.completions)]
  const agents = runs.flatMap(agentsIn)
  const stated = agents.filter(({ tokens }) => tokens !== null && !isNothing(tokens))
  const calls = stated.map((agent, index) => ({
    ...agent,
    // results without a sum may repeat one another
    id: sum === undefined && agent.agent !== null ? `usage of ${agent.agent}` : `usage ${id} ${index}`,
  }))
  const all = usedBy(sum, null)
  if (all.tokens === null) return calls
  const rest = stated.reduce((left, { tokens }) => addTokens(left, tokens ?? noTokens(), -1), {
    ...all.tokens,
  })
  const isOfOthers = Object.values(rest).some((count) => count < 0)
  const agent = agents[0]?.agent ?? runs.map(runIn).find((name) => name !== null) ?? null
  if (isOfOthers || stated.length === 0) return [{ ...all, id: `usage ${id}`, agent }]
  const cost = stated.reduce((left, each) => left - (each.cost ?? 0n), all.cost ?? 0n)
  if (isNothing(rest) && cost <= 0n) return calls
  return [...calls, { ...all, id: `usage ${id}`, tokens: rest, cost: cost > 0n ? cost : null, agent: null }]
}

function agentsIn(run: Json): (Omit<ApiMessage, 'id'> & { agent: string | null })[] {
  const outputs = listOf(run.outputPaths)
  const results = objectsIn(run.results)
  return (results.length > 0 ? results : outputs.map((): Json => ({}))).map((result, index) => {
    const path = textOf(result.sessionFile) ?? textOf(result.outputPath) ?? textOf(outputs[index])
    const name = runIn({ ...run, ...result })
    const place = typeof result.index === 'number' ? result.index : index
    const model = textOf(result.model)?.replace(/:(?:off|minimal|low|medium|high|xhigh)$/, '') ?? null
    return {
      ...usedBy(result.usage, model),
      agent: path === null ? (name === null ? null : `${name}/run-${place}/session`) : agentName(path),
    }
  })
}

const runIn = ({ runId, asyncId }: Json): string | null => textOf(runId) ?? textOf(asyncId)

/** The name of a sub-agent: the path of its file from the folder of the session that started it, without the extension. */
export const agentName = (path: string): string =>
  path
    .replaceAll('\\', '/')
    .replace(/^.*?\/\d{4}-\d\d-\d\dT[\d-]+Z_[^/]+\/|^.*\/(?=[^/]+\/run-\d+\/[^/]+$|[^/]+$)/, '')
    .replace(/^async-/, '')
    .replace(/\.\w+$/, '')

/** Notes that the calls of a sub-agent of this name are read, or the call that stands for them where they are not. */
export function noteAgent({ runs }: Transcript, name: string, call: string | null): void {
  const key = `sub-agent ${name}`
  const { over } = runs.getOrInsertComputed(key, () => ({ totals: [], over: [] }))
  over.push(call === null ? key : `assistant ${call}`)
}

/** Notes that the file of a sub-agent is read: by its name, and by that of its run. */
export function noteAgentFile(transcript: Transcript, path: string): void {
  const name = agentName(path)
  for (const each of new Set([name, name.replace(/\/run-\d+\/session$/, '')]))
    noteAgent(transcript, each, null)
}
