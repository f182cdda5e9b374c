/** How many of the records made something new, changed something, or said what was known. */
export interface Tally {
  created: number
  updated: number
  unchanged: number
  /** Ids of what was created and of what was updated, for the audit log; one may stand in both. */
  createdIds?: readonly string[]
  updatedIds?: readonly string[]
}
