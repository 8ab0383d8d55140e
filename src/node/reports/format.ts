import { isRuntimeLog } from './flat.js';
import { isGoTest } from './go-test.js';
import { isTrx } from './xml/trx.js';

/** The formats that `import` reads. An export of Ballast has builds; all others have the times of one suite. */
export const formats = [
  'junit',
  'trx',
  'pytest-split',
  'knapsack',
  'parallel-tests',
  'cypress-split',
  'playwright',
  'jest',
  'vitest',
  'rspec',
  'mocha',
  'go-test',
  'dart-test',
  'ctrf',
  'ballast',
] as const;

export type Format = (typeof formats)[number];

/**
 * Formats that keep the time of every path from run to run. Two such files may have the same path, which then counts with its mean. Two
 * reports of the other formats are parts of one run, and their times are added.
 */
export const timingTables: ReadonlySet<Format> = new Set(['pytest-split', 'knapsack', 'parallel-tests', 'cypress-split']);

/** Bytes of a file that are needed to detect its format. */
export const HEAD_BYTES = 65_536;

/** Detects the format of a file from its beginning; null: unknown. */
export function detectFormat(head: string): Format | null {
  const text = head.replace(/^\uFEFF/, '').trimStart();
  if (text.startsWith('<')) return isTrx(text) ? 'trx' : 'junit';
  // Older pytest-split wrote a list of pairs.
  if (/^\[\s*(\[\s*"(?:[^"\\]|\\.)*"\s*,\s*[-\dn]|\]\s*$)/.test(text)) return 'pytest-split';
  if (text.startsWith('{')) return detectJsonFormat(topKeys(text));
  if (isGoTest(text)) return 'go-test';
  return isRuntimeLog(text) ? 'parallel-tests' : null;
}

/** Returns the offset of the report in redirected output: npm or the test runner may print lines before it. */
export function reportOffset(head: Buffer): number {
  // Latin-1 makes each byte a character, so that the index is a byte offset.
  const at = head.toString('latin1').search(/^[{<]/m);
  return at > 0 && detectFormat(head.toString()) === null && detectFormat(head.toString('utf8', at)) !== null ? at : 0;
}

function detectJsonFormat(keys: ReadonlyMap<string, string>): Format | null {
  if (keys.has('Action')) return 'go-test';
  if (keys.has('protocolVersion')) return 'dart-test';
  if (keys.get('results') === '{') return 'ctrf';
  if (keys.has('build_subsets') || (keys.has('type') && keys.get('type') === '"')) return 'ballast';
  if (keys.get('durations') === '[') return 'cypress-split';
  // vitest writes Jest's format, but without this field.
  if (keys.has('numTotalTests') && !keys.has('numRuntimeErrorTestSuites')) return 'vitest';
  if (keys.get('testResults') === '[' || keys.has('numTotalTests')) return 'jest';
  if (keys.get('examples') === '[') return 'rspec';
  if (keys.get('stats') === '{' && keys.get('tests') === '[') return 'mocha';
  if (keys.get('suites') === '[' || keys.get('config') === '{') return 'playwright';
  if (keys.get('timings') === '{') return 'knapsack';
  const isFlat = [...keys.values()].every(start => /[-\dn]/.test(start));
  if (!isFlat) return null;
  return [...keys.keys()].some(path => path.includes('::')) ? 'pytest-split' : 'knapsack';
}

/** Returns the keys of the first object in a text, which may be cut off, with the first character of each value. */
function topKeys(text: string): Map<string, string> {
  const keys = new Map<string, string>();
  let depth = 0;
  for (const [token, key, value] of text.matchAll(/"((?:[^"\\]|\\.)*)"(?:\s*:(?=\s*(\S)))?|[{}[\]]/g)) {
    if (key !== undefined) {
      if (depth === 1 && value !== undefined) keys.set(key, value);
      continue;
    }
    depth += token === '{' || token === '[' ? 1 : -1;
    if (depth === 0) break;
  }
  return keys;
}
