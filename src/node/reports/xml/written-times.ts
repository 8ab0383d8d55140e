import { pluralize } from '../../../base/plural.js';
import type { Note } from '../report.js';

const PLAIN = /^\d*\.?\d+(?:e[+-]?\d+)?$|^\d+\.$/i;
/** 1,043 or 1,043.215: Surefire writes thousands so. */
const THOUSANDS = /^[1-9]\d{0,2}(?:,\d{3})+(\.\d+)?$/;
/** 0,160 or 12,5, and 1.043,215 with points between thousands. */
const DECIMAL_COMMA = /^(?:\d+|[1-9]\d{0,2}(?:\.\d{3})+),\d+$/;
const CLOCK = /^(?:(\d+):)?(\d+):(\d+(?:[.,]\d+)?)$/;
const ISO_DURATION = /^PT(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:[.,]\d+)?)S)?$/i;
const WITH_UNIT = /^(\d*[.,]?\d+)\s*(ms|s|sec|secs|seconds)$/i;

/**
 * The times of one report, as it writes them. Only all of them together show whether a comma stands before decimals: `0,160` and `12,5` have
 * a decimal comma, and then `1,043` of the same report has one, too. A report with nothing but such times has thousands.
 */
export class WrittenTimes {
  readonly #times: { text: string; set: (seconds: number | null) => void }[] = [];
  #hasDecimalComma = false;
  /** A comma stands before a group of three digits, and a point before decimals. */
  #hasThousands = false;
  /** The first time of which only others of the report tell what its comma means. */
  #ambiguous: string | null = null;

  /** @param set gets the seconds when the report has ended; null: the text is no time */
  add(written: string, set: (seconds: number | null) => void): void {
    const text = written.trim();
    this.#times.push({ text, set });
    if (!text.includes(',')) return;
    const thousands = THOUSANDS.exec(text);
    if (!thousands) this.#hasDecimalComma ||= DECIMAL_COMMA.test(text);
    else if (thousands[1] !== undefined) this.#hasThousands = true;
    else this.#ambiguous ??= text;
  }

  /** Ends the report. */
  end(note: Note): void {
    const unreadable: string[] = [];
    for (const { text, set } of this.#times) {
      const seconds = secondsOf(text, this.#hasDecimalComma);
      if (seconds === null) unreadable.push(text);
      set(seconds);
    }
    const ambiguous = this.#ambiguous;
    if (ambiguous !== null && !this.#hasDecimalComma && !this.#hasThousands)
      note(
        `it has the time "${ambiguous}", which is read as ${secondsOf(ambiguous, false)} s; if its comma stands before decimals, write a point`,
      );
    if (unreadable.length > 0)
      note(
        `${pluralize(unreadable.length, 'time')} in it cannot be read, such as "${unreadable[0]!.slice(0, 40)}": a time is in seconds, such as 1.5; the test files with such times count as run without a time`,
      );
  }
}

/** Null: the text is no time. Nothing, a negative time and NaN are 0: runners write them for a test that did not run. */
function secondsOf(text: string, isDecimalComma: boolean): number | null {
  if (text === '' || text.startsWith('-') || text === 'NaN') return 0;
  if (PLAIN.test(text)) return Number(text);
  if (isDecimalComma && DECIMAL_COMMA.test(text)) return Number(text.replaceAll('.', '').replace(',', '.'));
  if (THOUSANDS.test(text)) return Number(text.replaceAll(',', ''));
  const [, number, unit] = WITH_UNIT.exec(text) ?? [];
  if (number !== undefined) return Number(number.replace(',', '.')) / (unit!.toLowerCase() === 'ms' ? 1000 : 1);
  const [, hours = 0, minutes = 0, seconds = 0] = CLOCK.exec(text) ?? ISO_DURATION.exec(text) ?? [text, NaN];
  const sum = Number(hours) * 3600 + Number(minutes) * 60 + Number(String(seconds).replace(',', '.'));
  return Number.isFinite(sum) ? sum : null;
}
