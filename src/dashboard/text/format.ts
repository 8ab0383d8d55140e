import { durationText } from '../../base/duration.js';
import { agree } from '../../base/plural.js';

/** Times, dates and numbers as people read them. A minus is U+2212, thousands are apart by a narrow space that does not break. */

const NARROW = '\u202f';
const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Seconds as durationText has them, also negative ones. Null: a dash. */
export function duration(seconds: number | null | undefined): string {
  if (seconds === null || seconds === undefined || !Number.isFinite(seconds)) return '–';
  if (seconds < 0) return `\u2212${durationText(-seconds)}`;
  return durationText(seconds);
}

/** A difference: `+61 s`, `\u221212 s`, `0 s`. */
export function signedDuration(seconds: number): string {
  const text = duration(seconds);
  return seconds > 0 && text !== '0 s' ? `+${text}` : text;
}

/** Seconds to the millisecond, for the text that appears on hover: `492.318 s`. */
export function exactDuration(seconds: number | null | undefined): string {
  return seconds === null || seconds === undefined ? 'unknown' : `${separated(seconds.toFixed(3))} s`;
}

/** `12 480`; with decimals: `3.14`. */
export function number(value: number, decimals = 0): string {
  return separated(value.toFixed(decimals));
}

/** A part of 1 as `4 %`; below 10 % with a decimal. */
export function percent(share: number | null | undefined): string {
  if (share === null || share === undefined || !Number.isFinite(share)) return '–';
  const value = share * 100;
  const text = Math.abs(value) >= 9.95 || value === 0 ? value.toFixed(0) : value.toFixed(1);
  return `${separated(text)}${NARROW}%`;
}

/** A ratio as `3.1×`. */
export function times(ratio: number | null | undefined): string {
  return ratio === null || ratio === undefined || !Number.isFinite(ratio) ? '–' : `${number(ratio, ratio < 9.95 ? 1 : 0)}×`;
}

/** A duration, or a part of a number, within a sentence. */
const AMOUNT = /\d (?:of \d|(?:ms|[smhd])\b(?: \d+ [smh]\b)?)/g;

/** A sentence whose durations (`8 m 12 s`) and parts (`3 of 20`) do not break at the end of a line. */
export function unbroken(sentence: string): string {
  return sentence.replace(AMOUNT, amount => amount.replaceAll(' ', '\u00a0'));
}

/** `1 file`, `212 files`. */
export function count(value: number, one: string, many = `${one}s`): string {
  return `${number(value)} ${agree(value, one, many)}`;
}

/** Seconds of all nodes together as `19 node-hours`, below an hour as `12 node-minutes`. */
export function nodeTime(seconds: number): string {
  const [value, unit] = seconds < HOUR ? [seconds / MINUTE, 'node-minute'] : [seconds / HOUR, 'node-hour'];
  const rounded = Number(value.toFixed(value < 9.95 ? 1 : 0));
  return `${number(rounded, Number.isInteger(rounded) ? 0 : 1)} ${agree(rounded, unit, `${unit}s`)}`;
}

/** Bytes as `12 MB`, in powers of 1000. */
export function bytes(value: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  let unit = 0;
  let size = value;
  while (size >= 999.5 && unit < units.length - 1) {
    size /= 1000;
    unit++;
  }
  return `${number(size, unit > 0 && size < 9.95 ? 1 : 0)} ${units[unit]!}`;
}

/** A time of the last day as `5 m ago`, else its day as `2026-11-22`. */
export function when(time: string | number, now: number): string {
  const millis = new Date(time).getTime();
  const seconds = (now - millis) / 1000;
  if (!isOfLastDay(time, now)) return isoDay(millis);
  if (seconds < MINUTE) return 'just now';
  return seconds < HOUR ? `${Math.floor(seconds / MINUTE)} m ago` : `${Math.floor(seconds / HOUR)} h ago`;
}

/** Reports whether a time is less than a day ago. */
export function isOfLastDay(time: string | number, now: number): boolean {
  const seconds = (now - new Date(time).getTime()) / 1000;
  return seconds >= 0 && seconds < DAY;
}

/** A time in the reader's zone as `2026-11-22 14:02:11`. */
export function exactTime(time: string | number): string {
  const date = new Date(time);
  return `${isoDay(time)} ${clock(time)}:${padded(date.getSeconds())}`;
}

/** A time in the reader's zone as `14:02`. */
export function clock(time: string | number): string {
  const date = new Date(time);
  return `${padded(date.getHours())}:${padded(date.getMinutes())}`;
}

/** Seconds since the start of a build, as an axis shows them: `4 m 10 s`, `2 m`, `40 s`, `1 h 10 m`. */
export function offset(seconds: number, step: number): string {
  if (step < 1) return `${number(seconds, step < 0.01 ? 3 : step < 0.1 ? 2 : 1)} s`;
  const whole = Math.round(seconds);
  const [hours, minutes, rest] = [Math.floor(whole / HOUR), Math.floor((whole % HOUR) / MINUTE), whole % MINUTE];
  const parts = [hours > 0 && `${hours} h`, minutes > 0 && `${minutes} m`, rest > 0 && `${rest} s`].filter(Boolean);
  return parts.length === 0 ? '0' : parts.join(' ');
}

/** A day in the reader's zone as `2026-11-22`. */
export function isoDay(time: string | number): string {
  const date = new Date(time);
  return `${date.getFullYear()}-${padded(date.getMonth() + 1)}-${padded(date.getDate())}`;
}

function padded(value: number): string {
  return String(value).padStart(2, '0');
}

function separated(digits: string): string {
  const [whole = '', decimals] = digits.replace('-', '\u2212').split('.');
  // Four digits are read without a separator less well than with one in columns, so every thousand has it.
  const spaced = whole.replace(/\B(?=(\d{3})+$)/g, NARROW);
  return decimals === undefined ? spaced : `${spaced}.${decimals}`;
}
