import { useState } from 'preact/hooks';
import { DAY_MILLISECONDS } from '../../../base/time.js';
import type { DayTrend } from '../../../protocol/answers/trends.js';
import { fullBar } from '../../parts/charts/bar-scale.js';

interface Props {
  label: string;
  days: readonly DayTrend[];
  /** The dates of the axis. */
  range: { from: string; to: string };
  /** Number of days in a bar. */
  width: number;
  value: (day: DayTrend) => number;
  /** Round values up to the largest one. */
  ticks: (max: number) => number[];
  tickText: (value: number) => string;
  /** Text on a day: the one under the pointer, or else the last one. */
  reading: (day: DayTrend) => string;
}

/** A bar for each day or week, at its date. The page has the same as a table. */
export function DayBars({ label, days, range, width, value, ticks, tickText, reading }: Props) {
  const [pointed, setPointed] = useState<number | null>(null);
  const first = Date.parse(range.from);
  const end = Math.max(Date.parse(range.to) + DAY_MILLISECONDS, Date.parse(days.at(-1)?.day ?? range.to) + width * DAY_MILLISECONDS);
  const span = end - first;
  const full = fullBar(days.map(value)) || 1;
  const lines = ticks(full);
  const place = (day: DayTrend) => (100 * (Date.parse(day.day) - first)) / span;
  const height = (seconds: number) => `${(100 * Math.max(0, seconds)) / full}%`;
  const shown = days[pointed ?? days.length - 1] ?? days.at(-1);
  const readAt = (event: PointerEvent & { currentTarget: HTMLElement }) => {
    const { left, width: pixels } = event.currentTarget.getBoundingClientRect();
    const at = (100 * (event.clientX - left)) / pixels;
    const index = days.findLastIndex(day => place(day) <= at);
    setPointed(index < 0 ? null : index);
  };
  return (
    <>
      <div class="day-bars" role="img" aria-label={label}>
        {lines.map(line => (
          <span key={line} class="tick" style={{ bottom: height(line) }}>
            {tickText(line)}
          </span>
        ))}
        <div class="bars" onPointerMove={readAt} onPointerLeave={() => setPointed(null)}>
          {days.map(day => (
            <div
              key={day.day}
              class={value(day) > full ? 'bar cut' : 'bar'}
              style={{ left: `${place(day)}%`, width: `${(100 * width * DAY_MILLISECONDS) / span}%` }}
            >
              {value(day) > 0 && <span class="swatch work" style={{ height: height(value(day)) }} />}
            </div>
          ))}
        </div>
      </div>
      <p class="small quiet bar-dates" aria-hidden="true">
        <span>{range.from}</span>
        <span>{range.to}</span>
      </p>
      <p class="small quiet plot-reading">{shown && reading(shown)}</p>
    </>
  );
}
