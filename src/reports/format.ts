/** The names of formats. What Ballast exports is builds, not a suite. */
export const formats = ['junit', 'pytest-split', 'knapsack', 'parallel-tests', 'cypress-split', 'playwright', 'jest', 'vitest', 'ballast'] as const;

export type Format = (typeof formats)[number];

/** So much of a file is enough to tell its format. */
export const HEAD_BYTES = 65_536;

/** The format of a file that begins so; null when it is none that is known. */
export function formatOf(head: string): Format | null {
  const text = head.replace(/^\uFEFF/, '').trimStart();
  if (text.startsWith('<')) return 'junit';
  // A list of pairs, as pytest-split had it.
  if (/^\[\s*(\[\s*"|\]\s*$)/.test(text)) return 'pytest-split';
  if (text.startsWith('{')) return formatOfObject(topKeys(text));
  return /^.+:-?\d+(\.\d+)?\s*$/m.test(text.split('\n', 1)[0]!) ? 'parallel-tests' : null;
}

function formatOfObject(keys: ReadonlyMap<string, string>): Format | null {
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
