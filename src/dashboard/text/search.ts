/**
 * The search syntax: words `name:value` with spaces between them. A value with spaces stands in double quotes; a flag has no value
 * (`failed:`).
 */

/** Words that a search may have: the names, and the kind of value behind each. */
export type Vocabulary = Record<string, { kind: 'text' | 'number' | 'flag'; about: string }>;

export interface Search<Name extends string> {
  /** Of a flag: an empty text. */
  filters: Partial<Record<Name, string>>;
  /** Words without a name. */
  words: string[];
  /** Sentences on the words that could not be understood. */
  problems: string[];
}

/** Reads a search. It never fails: what it does not understand is left out and explained. */
export function parseSearch<Words extends Vocabulary>(text: string, vocabulary: Words): Search<keyof Words & string> {
  type Name = keyof Words & string;
  const search: Search<Name> = { filters: {}, words: [], problems: [] };
  for (const [, name, quoted, plain] of text.matchAll(/(?:([a-z_]+):)?(?:"([^"]*)"?|(\S*))/gi)) {
    const value = quoted ?? plain ?? '';
    if (name === undefined) {
      if (value !== '') search.words.push(value);
      continue;
    }
    const word = Object.hasOwn(vocabulary, name) ? vocabulary[name]! : null;
    if (word === null) search.problems.push(`There is no ${name}: here. ${namesOf(vocabulary)}`);
    else if (word.kind === 'flag' && value !== '') search.problems.push(`${name}: has no value; write ${name}: alone.`);
    else if (word.kind !== 'flag' && value === '') search.problems.push(`${name}: needs a value: ${word.about}.`);
    else if (word.kind === 'number' && !/^\d{1,9}$/.test(value)) search.problems.push(`${name}:${value} is not a whole number.`);
    else if (name in search.filters) search.problems.push(`${name}: is given twice; the first one counts.`);
    else search.filters[name as Name] = value;
  }
  return search;
}

/** Writes a filter as a word of a search. */
export function searchWord(name: string, value: string): string {
  return /^[^\s"]+$/.test(value) ? `${name}:${value}` : `${name}:"${value.replaceAll('"', '')}"`;
}

function namesOf(vocabulary: Vocabulary): string {
  const names = Object.keys(vocabulary).map(name => `${name}:`);
  return `There are ${names.slice(0, -1).join(', ')} and ${names.at(-1)}.`;
}
