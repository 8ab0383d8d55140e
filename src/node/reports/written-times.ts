import { pluralize } from '../../base/plural.js';

/** Gets a sentence about a report that can be used all the same. It follows the name of the report. */
export type Note = (sentence: string) => void;

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

  /** @param set gets the seconds when the report has ended; null: the text is no time */
  add(text: string, set: (seconds: number | null) => void): void {
    this.#times.push({ text: text.trim(), set });
  }

  /** Ends the report. */
  end(note: Note): void {
    const texts = this.#times.map(({ text }) => text);
    const isDecimalComma = texts.some(text => DECIMAL_COMMA.test(text) && !THOUSANDS.test(text));
    const unreadable: string[] = [];
    for (const { text, set } of this.#times) {
      const seconds = secondsOf(text, isDecimalComma);
      if (seconds === null) unreadable.push(text);
      set(seconds);
    }
    const ambiguous = texts.find(text => THOUSANDS.exec(text)?.[1] === undefined && THOUSANDS.test(text));
    const isCertain = isDecimalComma || texts.some(text => THOUSANDS.exec(text)?.[1] !== undefined);
    if (ambiguous !== undefined && !isCertain)
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
