/** What clock.ts does to a process. */
export interface Clock {
  /** A file that contains the hours by which its clock is ahead. Monotonic clocks are not. */
  file?: string;
  /** Its time passes so much faster. */
  speed?: number;
  /** Its clock was right at this time, in milliseconds since 1970. */
  since?: number;
  /** Which of its long timers are as much shorter. */
  timers?: 'intervals' | 'all';
}

/** The flag of Node with which a process has this clock. */
export function clockImport(clock: Clock): string {
  const url = new URL('./clock.js', import.meta.url);
  for (const [name, value] of Object.entries(clock)) url.searchParams.set(name, String(value));
  return `--import=${url.href}`;
}
