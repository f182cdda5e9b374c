/** Added to the time limit of an attempt, for settling it. */
const LEASE_MARGIN_MS = 5_000

/** The lease of an attempt of at most `timeoutMs`; after it the attempt counts as lost and is repeated. */
export const leaseMsOf = (timeoutMs: number): number => timeoutMs + LEASE_MARGIN_MS

/** Lost attempts after which a delivery is given up: its body may be what crashes the sender. */
export const MAX_LOST = 10
