import { anyOf, mentions, type NamingRunner, reportCases } from './named-cases.js';

/** PCRE compiles a pattern to 65,535 bytes at most, up to 2.5 for each of its own. PHPUnit runs nothing if it does not compile, and passes. */
const MAX_PATTERN_BYTES = 25_000;

/** An annotation or an attribute: without the case that it names, PHPUnit skips a case, and passes. */
const DEPENDS = /@depends|\bDepends/;

/** PHPUnit from 9 on. A case is a method of a test class, with one of its data sets. */
export const phpunit: NamingRunner = {
  conflicts: /^--filt(e|er)?(=|$)/,
  select(piece) {
    const names = piece?.others ?? piece?.cases;
    if (!piece || !names || piece.others?.length === 0) return { args: [], environment: {} };
    if (mentions(piece.file, DEPENDS)) return null;
    const selector = `[^:]*+::${anyOf(names.map(partsOf))}$`;
    const pattern = piece.others ? `/^(?!${selector})/D` : `/^${selector}/D`;
    return Buffer.byteLength(pattern) > MAX_PATTERN_BYTES ? null : { args: [`--filter=${pattern}`], environment: {} };
  },
  reportsOf: (files, reported) =>
    reportCases(
      // A filter never selects a file of another kind, such as a.phpt.
      files.filter(file => file.endsWith('.php') && !mentions(file, DEPENDS)),
      reported,
      { nameOf: ({ name }) => name || null, keyOf: name => name, listsAll: false },
    ),
};

/** Words, and white space between them. */
function partsOf(name: string): string[] {
  return name.split(/(\s+)/).map(part => part.replace(/[^\w \u0080-\uffff]/g, escaped));
}

/** A pattern may have any character behind a backslash except letters, digits and, in an argument, control characters. */
function escaped(character: string): string {
  const code = character.charCodeAt(0);
  return code < 32 || code === 127 ? `\\x${code.toString(16).padStart(2, '0')}` : `\\${character}`;
}
