const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Seconds in a sentence: `340 ms`, `4.2 s`, `94 s`, `8 m 12 s`, `1 h 04 m` or `2 d 3 h`. */
export function durationText(seconds: number): string {
  const milliseconds = Math.round(seconds * 1000);
  if (milliseconds <= 0) return '0 s';
  if (milliseconds < 1000) return `${milliseconds} ms`;
  if (milliseconds < 9950) return `${(milliseconds / 1000).toFixed(1)} s`;
  const whole = Math.round(seconds);
  if (whole < 100) return `${whole} s`;
  if (whole < HOUR) return `${Math.floor(whole / MINUTE)} m ${padded(whole % MINUTE)} s`;
  const minutes = Math.round(seconds / MINUTE);
  if (minutes < DAY / MINUTE) return `${Math.floor(minutes / 60)} h ${padded(minutes % 60)} m`;
  const hours = Math.round(seconds / HOUR);
  return `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

function padded(value: number): string {
  return String(value).padStart(2, '0');
}
