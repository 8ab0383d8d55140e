import { anyOf, MAX_EXPRESSION_BYTES } from './named-cases.js';
import type { Piece, Selection } from './piece.js';

/**
 * Vitest and Jest match an expression with the titles of the suites around a case and its own, with a space between them. Their reports may
 * have another separator, and XML replaces line breaks. So any white space and separators count as one.
 */
const GAP = /[\s>›]+/;

/** Returns what an expression can tell of a name. */
export function wordsOf(name: string): string[] {
  return name.split(GAP).filter(Boolean);
}

/** Selects a piece by an expression for the names of cases. */
export function selectByPattern(piece: Piece | null): Selection | null {
  const names = piece?.others ?? piece?.cases;
  if (!piece || !names || piece.others?.length === 0) return { args: [], environment: {} };
  const any = anyOf(names.map(name => wordsOf(name).flatMap((word, i) => (i === 0 ? [escaped(word)] : [GAP.source, escaped(word)]))));
  const selector = `^[\\s>›]*${any}[\\s>›]*$`;
  const pattern = piece.others ? `^(?!${selector.slice(1)})` : selector;
  if (Buffer.byteLength(pattern) > MAX_EXPRESSION_BYTES) return null;
  return { args: [`--testNamePattern=${pattern}`], environment: {} };
}

function escaped(word: string): string {
  return word.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}
