import { hash } from 'node:crypto';
import { NAME_CHARACTERS, shortened } from '../../base/shortened.js';
import { UsageError } from '../../base/usage-error.js';

const MAX_KEYS = 20;
const MAX_CHARACTERS = 1000;

/**
 * Hashes what must be alike, besides the tree and the list of test files, for a proof to hold: the texts that the user gave, and the folder in
 * the repository ('' at its root). Sorted and without duplicates. Throws a UsageError that lists every invalid text.
 */
export function proofKeys(texts: readonly string[], folder: string): string[] {
  const errors = texts.flatMap(text => textError(text) ?? []);
  if (texts.length > MAX_KEYS) errors.unshift(`there are ${texts.length} proof keys: give at most ${MAX_KEYS}`);
  if (errors.length > 0) throw new UsageError(errors);
  const all = folder === '' ? texts : [...texts, `folder=${folder}`];
  return [...new Set(all)].map(text => hash('sha256', text, 'hex')).sort();
}

function textError(text: string): string | null {
  if (text === '') return 'a proof key is empty: give a text, or leave it out';
  if (text.length <= MAX_CHARACTERS) return null;
  const start = JSON.stringify(shortened(text, NAME_CHARACTERS));
  return `the proof key ${start} has ${text.length} characters: give at most ${MAX_CHARACTERS.toLocaleString('en')}, such as its hash`;
}
