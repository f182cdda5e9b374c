import { measureChange } from '../../src/analysis/effects/measure-change.ts'
import { ALL_SUMS, type Cell, type Unit } from '../../src/analysis/effects/sums.ts'

// Fleets of 30 members of whom 15 change in one week: how often the range of an effect holds the true one, and how often a
// change without an effect is taken for one. `bun bench/effects/simulate.ts [fleets]` prints the table of docs/effects.md.

const MEMBERS = 30
const WEEKS = 18
const CHANGE = 13
/** Standard deviation of the logarithm of cost per prompt within a member, by week, as it was measured from 19,206 calls. */
const NOISE = 0.48

interface World {
  name: string
  /** The true effect, as a logarithm. */
  effect: number
  /** Adds to the logarithm of cost per prompt. */
  shift: (at: { changes: boolean; week: number; member: number; normal: () => number }) => number
  prompts?: (at: { changes: boolean; week: number }) => number
  /** Cost of work in a second repository from the change on. */
  newRepository?: boolean
  activeAdopt?: boolean
}

const after = (week: number) => week > CHANGE
const constant =
  (effect: number): World['shift'] =>
  ({ changes, week }) =>
    changes && after(week) ? effect : 0

const WORLDS: World[] = [
  { name: 'no effect', effect: 0, shift: () => 0 },
  { name: '+15 %', effect: Math.log(1.15), shift: constant(Math.log(1.15)) },
  { name: '+30 %', effect: Math.log(1.3), shift: constant(Math.log(1.3)) },
  {
    name: 'growing to +30 %',
    effect: Math.log(1.3) * 0.625,
    shift: ({ changes, week }) => (changes && after(week) ? (Math.log(1.3) * (week - CHANGE)) / 4 : 0),
  },
  {
    name: 'differs by member, +15 % on average',
    effect: Math.log(1.15),
    shift: ({ changes, week, member }) =>
      changes && after(week) ? Math.log(1.15) + 0.2 * (member % 2 === 0 ? 1 : -1) : 0,
  },
  { name: 'holiday of a third', effect: 0, shift: () => 0, prompts: ({ week }) => (week === 15 ? 0.1 : 1) },
  {
    name: 'crunch of all',
    effect: 0,
    shift: ({ week }) => (after(week) ? 0.4 : 0),
    prompts: ({ week }) => (after(week) ? 1.6 : 1),
  },
  { name: 'new dearer repository', effect: 0, shift: () => 0, newRepository: true },
  { name: 'active members adopt', effect: 0, shift: () => 0, activeAdopt: true },
  { name: 'price at the change', effect: 0, shift: ({ week }) => (week >= CHANGE ? -0.3 : 0) },
  { name: 'drift of 5 % a week', effect: 0, shift: ({ changes, week }) => (changes ? 0.05 * week : 0) },
  { name: 'harder work from that day', effect: 0, shift: constant(0.3) },
]

function generator(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
  }
}

function fleet(world: World, seed: number): Unit[] {
  const random = generator(seed)
  const normal = () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())
  return Array.from({ length: MEMBERS }, (_, member): Unit => {
    const changes = member < MEMBERS / 2
    const level = 0.5 * normal() - 1.2
    const activity = 40 * Math.exp(0.5 * normal()) * (world.activeAdopt && changes ? 2 : 1)
    const noise = Array.from({ length: WEEKS }, () => NOISE * normal())
    const own = Math.floor(random() * 10)
    const projects = [`repository ${own}`, `repository ${(own + 1 + Math.floor(random() * 9)) % 10}`]
    if (world.newRepository && changes) projects.push('new')
    const cells = projects.map((project): Cell => {
      const isNew = project === 'new'
      const share = (isNew ? 0.6 : 0.5) * (0.5 + random())
      const dearer = (isNew ? 0.7 : 0) + 0.3 * normal()
      const weeks = new Map<number, Float64Array>()
      for (let week = 0; week < WEEKS; week++) {
        if (isNew && week < CHANGE) continue
        const factor = world.prompts?.({ changes, week }) ?? 1
        const prompts = Math.round(activity * share * factor * Math.exp(0.3 * normal()))
        if (prompts === 0) continue
        const log = level + dearer + (noise[week] ?? 0) + world.shift({ changes, week, member, normal })
        const sums = new Float64Array(ALL_SUMS)
        sums.set([
          1,
          prompts,
          prompts * 6,
          prompts * 5,
          prompts,
          80,
          Math.round(prompts * Math.exp(log) * 1e6),
        ])
        weeks.set(week, sums)
      }
      return { project, weeks }
    })
    return {
      id: `user_${String(member).padStart(2, '0')}`,
      cells,
      adopted: changes ? CHANGE : null,
      team: null,
    }
  })
}

const fleets = Number(process.argv[2] ?? 500)
const percent = (count: number, of = fleets) => `${((100 * count) / of).toFixed(1)}`
const print = (line: string) => process.stdout.write(`${line}\n`)
print('| scenario | coverage | `seen` | withheld | too few | visible from |\n|---|---|---|---|---|---|')
for (const [index, world] of WORLDS.entries()) {
  let [given, covered, seen, withheld] = [0, 0, 0, 0]
  const visible: number[] = []
  for (let run = 0; run < fleets; run++) {
    const units = fleet(world, 1_000_003 * (index + 1) + run)
    const question = { units, unit: 'member', measure: 'cost_per_prompt', after: 4 } as const
    const found = measureChange({ ...question, first: 0, now: WEEKS, members: () => MEMBERS })
    const { low, high, verdict } = found
    const effect = Math.expm1(world.effect)
    if (low === null || high === null) continue
    given += 1
    if (low <= effect && effect <= high) covered += 1
    if (verdict === 'seen') seen += 1
    if (verdict === 'withheld') withheld += 1
    visible.push(found.visible_rise ?? 0)
  }
  const middle = visible.sort((a, b) => a - b)[Math.floor(given / 2)] ?? 0
  const columns = [
    world.name,
    percent(covered, given),
    percent(seen),
    percent(withheld),
    percent(fleets - given),
    `${Math.round(100 * middle)} %`,
  ]
  print(`| ${columns.join(' | ')} |`)
}
