import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isFile } from '../test-files.js';
import { scriptFlag } from './command-line.js';

export type Runner = 'jest' | 'vitest' | 'playwright' | 'pytest' | 'rspec' | 'mocha' | 'cypress' | 'go test' | 'phpunit' | 'node --test';

/** The words of a command, and the test runner among them. */
export interface ReadCommand {
  /** All words, those of a shell script and of scripts of package.json among them. */
  words: readonly string[];
  /** The script after `sh -c`; null: there is none. */
  script: string | null;
  /** The first runner among the words; null: none that is known. */
  runner: Runner | null;
  /** The words behind the runner; all words if none is known. */
  flags: readonly string[];
}

const RUNNERS: readonly [Runner, RegExp][] = [
  ['jest', /^jest(\.js)?$|^react-scripts$/],
  ['vitest', /^vitest(\.mjs)?$/],
  ['playwright', /^playwright$/],
  ['pytest', /^(py\.?test|pytest-\d)$/],
  ['rspec', /^rspec$/],
  ['mocha', /^mocha$/],
  ['cypress', /^cypress$/],
  ['phpunit', /^phpunit$/],
];

/** Reads a command as `queue` gets it, and package.json. It runs nothing. */
export function readCommand(command: readonly string[]): ReadCommand {
  const flag = scriptFlag(command);
  const script = flag > 0 ? (command[flag + 1] ?? '') : null;
  const spoken = script === null ? command : [...command.slice(0, flag + 1), ...wordsOf(script), ...command.slice(flag + 2)];
  const words = withPackageScript(spoken);
  const names = words.map(word => word.split('/').at(-1)!);
  const runnerOf = (name: string, i: number): Runner | undefined => {
    if (name === 'go' && names[i + 1] === 'test') return 'go test';
    if (name === 'node' && names.includes('--test', i)) return 'node --test';
    return RUNNERS.find(([, pattern]) => pattern.test(name))?.[0];
  };
  const at = names.findIndex((name, i) => runnerOf(name, i) !== undefined);
  const end = words.findIndex((word, i) => i > at && END.test(word));
  const flags = at < 0 ? words : words.slice(at + 1, end < 0 ? undefined : end);
  return { words, script, runner: at < 0 ? null : runnerOf(names[at]!, at)!, flags };
}

/** Words that end a command within a script. */
const END = /^[;|&]+$/;

/** The words of a script, roughly: quotes do not matter for what is looked for. */
function wordsOf(script: string): string[] {
  return script.match(/[;|&]+|[^\s;|&"'()]+/g) ?? [];
}

/** Puts in the script of package.json for `npm test`, `npm run NAME`, `yarn NAME` and the like. */
function withPackageScript(words: readonly string[]): readonly string[] {
  const at = words.findIndex(word => /^(.*\/)?(npm|yarn|pnpm|bun)$/.test(word));
  const nameAt = /^run(-script)?$/.test(words[at + 1] ?? '') ? at + 2 : at + 1;
  const name = words[nameAt] ?? '';
  // `npm t` runs the script test, but `npm run t` runs the script t.
  const script = at < 0 ? undefined : packageScripts()[name === 't' && nameAt === at + 1 ? 'test' : name];
  return typeof script === 'string' ? [...words.slice(0, at), ...wordsOf(script), ...words.slice(nameAt + 1)] : words;
}

function packageScripts(): Readonly<Record<string, unknown>> {
  const path = findAbove('package.json');
  if (path === null) return {};
  try {
    return (JSON.parse(readFileSync(path, 'utf8')) as { scripts?: Record<string, unknown> } | null)?.scripts ?? {};
  } catch {
    return {};
  }
}

/** The path of a file in this folder or the nearest one above it that has it; null: none has. */
export function findAbove(path: string, folder = process.cwd()): string | null {
  const candidate = join(folder, path);
  if (isFile(candidate)) return candidate;
  return dirname(folder) === folder ? null : findAbove(path, dirname(folder));
}
