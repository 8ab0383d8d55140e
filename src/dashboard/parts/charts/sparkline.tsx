interface Props {
  /** Oldest first; null: not measured. */
  values: readonly (number | null)[];
  width?: number;
  height?: number;
}

/** The course of a few values without axes, from 0 up. What it shows stands beside it as text. */
export function Sparkline({ values, width = 96, height = 20 }: Props) {
  const most = Math.max(...values.map(value => value ?? 0));
  if (!(most > 0)) return <svg class="sparkline" width={width} height={height} aria-hidden="true" />;
  const x = (i: number) => round(2 + (i / Math.max(1, values.length - 1)) * (width - 4));
  const y = (value: number) => round(height - 2 - (value / most) * (height - 4));
  let line = '';
  for (const [i, value] of values.entries()) if (value !== null) line += `${line === '' ? 'M' : 'L'}${x(i)} ${y(value)}`;
  const last = values.findLastIndex(value => value !== null);
  return (
    <svg class="sparkline" width={width} height={height} viewBox={`0 0 ${width} ${height}`} aria-hidden="true">
      <path d={line} />
      <circle cx={x(last)} cy={y(values[last]!)} r={2} />
    </svg>
  );
}

const round = (pixels: number) => Math.round(pixels * 10) / 10;
