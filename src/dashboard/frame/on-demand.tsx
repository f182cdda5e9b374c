import type { ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'

/** A page whose script is loaded when it is shown first. */
export function onDemand<Props extends object>(
  load: () => Promise<ComponentType<Props>>,
): ComponentType<Props> {
  let known: ComponentType<Props> | undefined
  return function OnDemand(props: Props) {
    const [Shown, setShown] = useState(() => known)
    const [isMissing, setMissing] = useState(false)
    useEffect(() => {
      load().then(
        (Content) => {
          known = Content
          setShown(() => Content)
        },
        () => setMissing(true),
      )
    }, [])
    if (Shown !== undefined) return <Shown {...props} />
    return isMissing ? (
      <p class="failure" role="alert">
        This page cannot be loaded. The server may have another version now: load the page again.
      </p>
    ) : (
      <p class="note" role="status">
        Loading …
      </p>
    )
  }
}
