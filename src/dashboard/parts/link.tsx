import type { ComponentChildren } from 'preact'
import { linkTo } from '../client/links.ts'

/** A link whose text is a name that somebody chose, in whatever script. */
export const NamedLink = ({ to, children }: { to: string; children: ComponentChildren }) => (
  <a href={to}>
    <bdi>{children}</bdi>
  </a>
)

/** The link from one thing to the list of all. */
export const Back = ({ to, children }: { to: string; children: string }) => (
  <p>
    <a href={linkTo(to)}>{children}</a>
  </p>
)
