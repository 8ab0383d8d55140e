import type { DayTrend } from '../../api/messages/insight/trends.js';

const DAY_MS = 86_400_000;

/** The Monday of a day's week, as 2026-11-16. */
function mondayOf(day: string): string {
  const time = Date.parse(`${day}T00:00:00Z`);
  const sinceMonday = (new Date(time).getUTCDay() + 6) % 7;
  return new Date(time - sinceMonday * DAY_MS).toISOString().slice(0, 10);
}

/** Days added up to weeks, each named by its Monday. A mean counts by the builds of its day; so does the median, which makes it one of medians. */
export function weeksOf(days: readonly DayTrend[]): DayTrend[] {
  const weeks = new Map<string, DayTrend[]>();
  for (const day of days) {
    const monday = mondayOf(day.day);
    const week = weeks.get(monday);
    if (week) week.push(day);
    else weeks.set(monday, [day]);
  }
  return [...weeks].map(([monday, members]) => together(monday, members));
}

function together(day: string, days: readonly DayTrend[]): DayTrend {
  const sum = (value: (day: DayTrend) => number) => days.reduce((total, member) => total + value(member), 0);
  const builds = sum(member => member.builds);
  const mean = (value: (day: DayTrend) => number) => (builds === 0 ? 0 : sum(member => value(member) * member.builds) / builds);
  const nodeSeconds = sum(member => member.node_seconds);
  const names = days[0]!.parts.map(part => part.name);
  return {
    day,
    builds,
    incomplete: sum(member => member.incomplete),
    with_failures: sum(member => member.with_failures),
    wall: mean(member => member.wall),
    floor: mean(member => member.floor),
    median_wall: mean(member => member.median_wall),
    idle_share: nodeSeconds === 0 ? 0 : sum(member => member.idle_share * member.node_seconds) / nodeSeconds,
    parts: names.map(name => ({ name, seconds: mean(member => member.parts.find(part => part.name === name)?.seconds ?? 0) })),
    saved: {
      round_robin: sum(member => member.saved.round_robin),
      by_name: sum(member => member.saved.by_name),
      one_at_a_time: sum(member => member.saved.one_at_a_time),
    },
    node_seconds: nodeSeconds,
  };
}
