/** The names of a chart's series with their colours. */
export function Legend({ names }: { names: readonly string[] }) {
  return (
    <ul class="legend">
      {names.map((name, index) => (
        <li key={index}>
          <svg width="10" height="10" aria-hidden="true">
            <rect class={`series${index}`} width="10" height="10" rx="2" />
          </svg>
          <bdi>{name}</bdi>
        </li>
      ))}
    </ul>
  )
}
