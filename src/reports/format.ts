import { isGoTest } from './go-test.js';
import { isRuntimeLog } from './parallel-tests.js';

/** The names of formats. What Ballast exports is builds, not a suite. */
export const formats = [
  'junit',
  'pytest-split',
  'knapsack',
  'parallel-tests',
  'cypress-split',
  'playwright',
  'jest',
  'vitest',
  'go-test',
  'ballast',
] as const;

export type Format = (typeof formats)[number];

/** Those that keep what each path takes, from one run to the next: two of them say the same twice. The others tell what was run, and two of them are two parts of it. */
export const timingTables: ReadonlySet<Format> = new Set(['pytest-split', 'knapsack', 'parallel-tests', 'cypress-split']);

/** So much of a file is enough to tell its format. */
export const HEAD_BYTES = 65_536;

/** The format of a file that begins so; null when it is none that is known. */
export function detectFormat(head: string): Format | null {
  const text = head.replace(/^\uFEFF/, '').trimStart();
  if (text.startsWith('<')) return 'junit';
  // A list of pairs, as pytest-split had it.
  if (/^\[\s*(\[\s*"(?:[^"\\]|\\.)*"\s*,\s*[-\dn]|\]\s*$)/.test(text)) return 'pytest-split';
  if (text.startsWith('{')) return detectJsonFormat(topKeys(text));
  if (isGoTest(text)) return 'go-test';
  return isRuntimeLog(text) ? 'parallel-tests' : null;
}

/** How many bytes come before a report whose runner was redirected: what npm said of the script, or a configuration of itself. */
export function reportOffset(head: Buffer): number {
  // Of a character each byte, so that places are those of bytes.
  const at = head.toString('latin1').search(/^[{<]/m);
  return at > 0 && detectFormat(head.toString()) === null && detectFormat(head.toString('utf8', at)) !== null ? at : 0;
}

function detectJsonFormat(keys: ReadonlyMap<string, string>): Format | null {
  if (keys.has('Action')) return 'go-test';
  if (keys.has('build_subsets') || (keys.has('type') && keys.get('type') === '"')) return 'ballast';
  if (keys.get('durations') === '[') return 'cypress-split';
  // vitest follows Jest, but for what it has not.
  if (keys.has('numTotalTests') && !keys.has('numRuntimeErrorTestSuites')) return 'vitest';
  if (keys.get('testResults') === '[' || keys.has('numTotalTests')) return 'jest';
  if (keys.get('suites') === '[' || keys.get('config') === '{') return 'playwright';
  if (keys.get('timings') === '{') return 'knapsack';
  const isFlat = [...keys.values()].every(start => /[-\dn]/.test(start));
  if (!isFlat) return null;
  return [...keys.keys()].some(path => path.includes('::')) ? 'pytest-split' : 'knapsack';
}

/** The keys of the first object of a text, as far as it goes, and what the value of each begins with. */
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
