import { InvalidArgumentError, Option } from 'commander';
import type { IdentityOptions } from '../../node/ci/identity.js';
import { limits } from '../../protocol/limits.js';
import { wholeNumber } from '../process/whole-number.js';

const SECONDS = { '': 1, s: 1, m: 60, h: 3600, d: 86_400 };

/** Returns the seconds of a duration such as 90, 90s, 1.5m, 1h30m or 7d. */
export function duration(text: string): number {
  const parts = [...text.matchAll(/(\d{1,6}(?:\.\d{1,3})?)([smhd]?)/g)];
  const isWhole =
    parts.length > 0 && parts.map(([part]) => part).join('') === text && (parts.length === 1 || parts.every(([, , unit]) => unit !== ''));
  if (!isWhole) throw new InvalidArgumentError('It must be a duration such as 90s, 10m or 1h30m.');
  return parts.reduce((sum, [, number, unit]) => sum + Number(number) * SECONDS[unit as keyof typeof SECONDS], 0);
}

/** Returns the seconds of a duration that the age of a CI run may have. */
export function maxAge(text: string): number {
  const seconds = Math.round(duration(text));
  if (seconds < 1 || seconds > limits.proofMaxAgeSeconds) throw new InvalidArgumentError('It must be from 1s to 365d.');
  return seconds;
}

export function timeLimitOption(): Option {
  return new Option(
    '--time-limit <duration>',
    'end a command that runs for longer, such as 4m, and run its files one by one; off: never (default: the greater of 10m and 8 times what its files are expected to take, if all were measured)',
  ).argParser(text => (text === 'off' ? text : positive(duration(text))));
}

function positive(seconds: number): number {
  if (seconds === 0) throw new InvalidArgumentError('It must be longer than 0 s, or off.');
  return seconds;
}

export function retriesOption(): Option {
  return new Option('--retries <number>', 'how often to repeat a request that gets no answer')
    .env('BALLAST_RETRIES')
    .argParser(wholeNumber('retries'))
    .default(3);
}

/** The options of every command of a CI node. */
export interface ClientOptions extends IdentityOptions {
  url: string;
  token: string;
  retries: number;
  clientVersion: string;
  environment: NodeJS.ProcessEnv;
}

/** The options of the commands that take a list of test files. */
export interface ListOptions {
  stdin?: true;
  /** What else the tests depend on; missing: each line of BALLAST_PROOF_KEYS. */
  proofKey?: readonly string[];
  /** If the server cannot be reached, run all files instead of failing. */
  fallback?: boolean;
}
