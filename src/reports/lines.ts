import { ReportError } from './report.js';

const NEWLINE = 10;

/** Yields the lines of a text, trimmed, without empty lines. */
export async function* readLines(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  let number = 1;
  let rest: Uint8Array[] = [];
  for await (const chunk of bytes) {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      yield* decodeLine(number, [...rest, chunk.subarray(start, end)]);
      rest = [];
      number += 1;
      start = end + 1;
    }
    if (start < chunk.length) rest.push(chunk.subarray(start));
  }
  yield* decodeLine(number, rest);
}

function* decodeLine(number: number, parts: readonly Uint8Array[]): Generator<string> {
  let text;
  try {
    // The decoder removes a byte order mark.
    text = new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(parts));
  } catch {
    throw new ReportError(`line ${number} is not UTF-8`);
  }
  text = text.trim();
  if (text !== '') yield text;
}
