import { JSONParser, TokenType } from '@streamparser/json';
import { ReportError } from './report.js';

/** A value that was asked for. */
export interface JsonValue {
  value: unknown;
  /** Where it lies: the keys and places that lead to it. */
  at: readonly (string | number)[];
}

/**
 * The values that the selectors name (`$.durations.*`), each as soon as it is whole, and nothing else of the document is
 * kept: a report may carry screenshots.
 */
export async function* jsonValues(bytes: AsyncIterable<Uint8Array>, selectors: readonly string[]): AsyncGenerator<JsonValue> {
  const parser = new JSONParser({ paths: [...selectors], keepStack: false });
  yield* parseChunks(bytes, parser, () => parser.isEnded);
}

/** Documents one behind the other, on a line each or on many. */
export async function* jsonDocuments(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<unknown> {
  let depth = 0;
  const parser = new JSONParser({ paths: ['$'], keepStack: false, separator: '' });
  const isBetween = () => depth === 0;
  for await (const { value } of parseChunks(bytes, parser, isBetween, change => (depth += change))) yield value;
}

/** What the parser finds, chunk by chunk; whoever takes it slowly holds up the reading. */
async function* parseChunks(
  bytes: AsyncIterable<Uint8Array>,
  parser: JSONParser,
  isWhole: () => boolean,
  nest: (change: 1 | -1) => void = () => {},
): AsyncGenerator<JsonValue> {
  let found: JsonValue[] = [];
  let line = 1;
  let start = 0;
  let token = 0;
  parser.onValue = ({ value, key, stack }) => {
    const at = [...stack.slice(1).map(of => of.key), key].filter(part => part !== undefined);
    found.push({ value, at });
  };
  parser.onToken = ({ token: kind, offset }) => {
    token = offset;
    if (kind === TokenType.LEFT_BRACE || kind === TokenType.LEFT_BRACKET) nest(1);
    else if (kind === TokenType.RIGHT_BRACE || kind === TokenType.RIGHT_BRACKET) nest(-1);
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
  if (!isWhole()) throw new ReportError(`line ${line}: it ends in the middle`);
}

/** The same bytes, cut between characters: the parser mistakes one that comes in three pieces. */
async function* splitAtCharacters(bytes: AsyncIterable<Uint8Array>, line: () => number): AsyncGenerator<Uint8Array> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  for await (const chunk of bytes) {
    let text;
    try {
      text = decoder.decode(chunk, { stream: true });
    } catch {
      throw new ReportError(`line ${line()} or one soon after it is not UTF-8`);
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
