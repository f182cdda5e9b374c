// Says on the overview that days and months of before have moved, and why, until a reader has read it.

import { useState } from 'preact/hooks'
import { dayOfTime } from '../client/days.ts'
import { formatDay } from '../client/format.ts'
import { storedAs } from '../client/storage.ts'
import { Button } from '../parts/form.tsx'

interface DaysMovedProps {
  at: string | null
  organization: string
}

export function DaysMoved({ at, organization }: DaysMovedProps) {
  const read = storedAs(`cloud-analytics-moved ${organization}`, () => localStorage)
  const [isRead, setRead] = useState(read.read() === at)
  if (at === null || isRead) return null
  const close = () => {
    read.write(at)
    setRead(true)
  }
  return (
    <section class="attention" aria-label="Past months have moved">
      <h2>Past months have moved</h2>
      <p>
        Since {formatDay(dayOfTime(at))} cost stands on the day of each call; before, all of a session stood
        on its first day. So days and months of before show other sums, as a vendor’s bill has them. What
        everything cost together is the same.
      </p>
      <Button act={close}>I have read it</Button>
    </section>
  )
}
