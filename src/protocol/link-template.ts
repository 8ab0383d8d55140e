import { limits } from './limits.js';

const withWords = (template: string, textOf: (word: string) => string | null): string =>
  template.replace(/\{(\w+)\}/g, (all, word: string) => textOf(word) ?? all);

/** Reports whether a text is the address of a page, without a password, which may have some words in braces after its host. */
export function isLinkTemplate(text: string, words: readonly string[]): boolean {
  if (!/^https?:\/\//.test(text) || text.length > limits.linkMaxCharacters) return false;
  const [first, second] = ['a', 'b'].map(value => withWords(text, word => (words.includes(word) ? value : null))) as [string, string];
  if (/[{}\s\p{Cc}\p{Cs}]/u.test(first) || !URL.canParse(first) || !URL.canParse(second)) return false;
  const { host, username, password } = new URL(first);
  return host === new URL(second).host && username === '' && password === '';
}

/**
 * The address that a template stands for; null: a value is not known, or would make another address of it than its author meant.
 *
 * @param values by the words of the template: anybody may have chosen them
 */
export function expandLink(template: string, values: Readonly<Record<string, string | null>>): string | null {
  if (!isLinkTemplate(template, Object.keys(values))) return null;
  let isWhole = true;
  const text = withWords(template, word => {
    const value = values[word]!;
    // In a path, "." and ".." are steps.
    isWhole &&= value !== null && !/^\.*$/.test(value);
    return isWhole ? encodeURIComponent(value.toWellFormed()) : '';
  });
  if (!isWhole || !URL.canParse(text)) return null;
  const { host, href } = new URL(text);
  return host === new URL(withWords(template, () => 'a')).host ? href : null;
}
