import { JSONParser, TokenType } from '@streamparser/json';
import { ReportError } from './report.js';

export interface JsonValue {
  value: unknown;
  /** The keys and indexes that lead to the value. */
  at: readonly (string | number)[];
}

/**
 * Yields the values that the selectors name (`$.durations.*`), each as soon as it is complete. Nothing else of the document is kept, because a
 * report may contain screenshots.
 */
export function jsonValues(bytes: AsyncIterable<Uint8Array>, selectors: readonly string[]): AsyncGenerator<JsonValue> {
  const parser = new JSONParser({ paths: [...selectors], keepStack: false });
  return parseChunks(bytes, parser, () => parser.isEnded);
}

/** Yields consecutive JSON documents, each on one line or on several. */
export async function* jsonDocuments(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<unknown> {
  const parser = new JSONParser({ paths: ['$'], keepStack: false, separator: '' });
  for await (const { value } of parseChunks(bytes, parser, depth => depth === 0)) yield value;
}

/** Yields what the parser finds in each chunk. A slow consumer slows down the reading. */
async function* parseChunks(
  bytes: AsyncIterable<Uint8Array>,
  parser: JSONParser,
  isComplete: (depth: number) => boolean,
): AsyncGenerator<JsonValue> {
  let found: JsonValue[] = [];
  let line = 1;
  let start = 0;
  let token = 0;
  let depth = 0;
  parser.onValue = ({ value, key, stack }) => {
    const at = [...stack.slice(1).map(parent => parent.key), key].filter(part => part !== undefined);
    found.push({ value, at });
  };
  parser.onToken = ({ token: kind, offset }) => {
    token = offset;
    if (kind === TokenType.LEFT_BRACE || kind === TokenType.LEFT_BRACKET) depth += 1;
    else if (kind === TokenType.RIGHT_BRACE || kind === TokenType.RIGHT_BRACKET) depth -= 1;
  };
  for await (const chunk of splitAtCharacters(bytes, () => line)) {
    try {
      parser.write(chunk);
    } catch (error) {
      const { message } = error as Error;
      const position = Number(/position "(\d+)"/.exec(message)?.[1] ?? token);
      const what = /^Unexpected (.*?)(?: at position| in state|$)/.exec(message)?.[1];
      throw new ReportError(
        `line ${line + countNewlines(chunk.subarray(0, Math.max(0, position - start)))}: ${what ? `unexpected ${what}` : message}`,
      );
    }
    line += countNewlines(chunk);
    start += chunk.length;
    yield* found;
    found = [];
  }
  if (!isComplete(depth)) throw new ReportError(`line ${line}: unexpected end of file`);
}

/** Splits the bytes between characters: the parser misreads a character that is split over three chunks. */
async function* splitAtCharacters(bytes: AsyncIterable<Uint8Array>, line: () => number): AsyncGenerator<Uint8Array> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  for await (const chunk of bytes) {
    let text;
    try {
      text = decoder.decode(chunk, { stream: true });
    } catch {
      throw new ReportError(`line ${line()}, or a line soon after it, is not UTF-8`);
    }
    if (text !== '') yield Buffer.from(text);
  }
}

const NEWLINE = 10;

function countNewlines(bytes: Uint8Array): number {
  let count = 0;
  for (let at = bytes.indexOf(NEWLINE); at >= 0; at = bytes.indexOf(NEWLINE, at + 1)) count += 1;
  return count;
}
