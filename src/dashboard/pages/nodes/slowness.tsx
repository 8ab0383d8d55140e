/** A node is drawn as slow from this ratio on. */
const SLOW = 1.1;
const HEIGHT = 32;
const WIDTH = 400;
const LEAST = 0.7;
const MOST = 1.7;

/** The slowness of a node by build, oldest first, as a row of bars from the line of the other nodes: up is slower, and orange. Null: unknown. */
export function Slowness({ values }: { values: readonly (number | null)[] }) {
  const step = WIDTH / Math.max(20, values.length);
  const from = WIDTH - step * values.length;
  const y = (ratio: number) => ((MOST - Math.min(MOST, Math.max(LEAST, ratio))) / (MOST - LEAST)) * HEIGHT;
  const usual = y(1);
  return (
    <svg class="slowness" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
      {values.map((ratio, i) => {
        if (ratio === null) return null;
        const end = y(ratio);
        return (
          <rect
            key={i}
            class={ratio >= SLOW ? 'slow' : undefined}
            x={from + i * step}
            y={Math.min(end, usual)}
            width={Math.max(1, step - 2)}
            height={Math.max(1, Math.abs(end - usual))}
          />
        );
      })}
      <path d={`M0 ${usual}H${WIDTH}`} />
    </svg>
  );
}
