import { addDays, today } from './days.ts'
import { formatTimes, formatWeekdayName } from './format.ts'

/** Weeks before a day whose same weekdays are its usual ones. */
const WEEKS = 4
/** Days before a range that its usual weekdays are of. */
export const USUAL_DAYS = 7 * WEEKS

export type CostOn = (day: string) => number

/** The mean of the same weekday in the four weeks before. */
export const usualOf = (costOn: CostOn, day: string): number =>
  Array.from({ length: WEEKS }, (_, week) => costOn(addDays(day, -7 * (week + 1)))).reduce(
    (sum, cost) => sum + cost,
    0,
  ) / WEEKS

/** The values of a chart say this of days that are over: `×1.4 a usual Thursday`. */
export const besideUsual = (costOn: CostOn, days: readonly string[]) => ({
  name: 'Compared',
  values: days.map((day) => {
    const usual = usualOf(costOn, day)
    return day >= today() || usual === 0
      ? '–'
      : `${formatTimes(costOn(day) / usual)} a usual ${formatWeekdayName(day)}`
  }),
})
