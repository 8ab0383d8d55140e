import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ReadCommand, Runner } from '../client/command/read-command.js';
import { isFile } from '../client/test-files.js';
import { type Finding, warning } from './finding.js';

/** What measures coverage, or writes reports that are merged later. Patterns are of a command with a word a line, and of configurations. */
interface Tool {
  /** The test runner, or a program of the command. */
  of: Runner | RegExp;
  /** Names of configurations, in this folder or in spec. */
  configs: RegExp;
  /** Something is written for each batch. Missing: nothing that a batch overwrites. */
  writes?: RegExp;
  /** A batch does not overwrite it. */
  keeps?: RegExp;
  /** How to have it kept. */
  remedy?: string;
  threshold?: RegExp;
  /** The threshold counts in this command; missing: if something is written. */
  checks?: RegExp;
  /** A word that lifts the threshold. */
  lift?: RegExp;
  /** Such a word. */
  lifting?: string;
}

const OWN_NAME = 'with $BALLAST_BATCH in its name';

const TOOLS: readonly Tool[] = [
  {
    of: 'jest',
    configs: /^(jest\.config\.\w+|package\.json)$/,
    writes: /^--(coverage|collectCoverage)(=true)?$|\bcollectCoverage\W+true/m,
    remedy: `have the reporter json of Jest write a file ${OWN_NAME}`,
    threshold: /\bcoverageThreshold\b/,
    lift: /^--coverageThreshold=\{\}$/m,
    lifting: '--coverageThreshold={}',
  },
  {
    of: 'vitest',
    configs: /^vite(st)?\.config\.\w+$/,
    writes: /^--coverage(\.enabled)?(=true)?$|\bcoverage\W[^}]*\benabled\W+true|--reporter[=\n]blob\b|['"]blob['"]/m,
    remedy: `give --reporter=blob --outputFile.blob=FILE, ${OWN_NAME}`,
    threshold: /\bthresholds\b/,
    lift: /^--coverage\.thresholds\.\w+=0$/m,
    lifting: '--coverage.thresholds.lines=0, and the same for each other threshold of the configuration',
  },
  {
    of: 'playwright',
    configs: /^playwright\.config\.\w+$/,
    writes: /--reporter[=\n]\S*\bblob\b|['"]blob['"]/,
    // With another name in the same folder, Playwright removes the blobs that are there.
    keeps: /_BLOB_OUTPUT_(FILE|DIR)=\s*\S*BALLAST_BATCH|\boutput(File|Dir)\b.*BALLAST_BATCH/,
    remedy: `set PLAYWRIGHT_BLOB_OUTPUT_FILE=FILE in the command, ${OWN_NAME}`,
  },
  {
    of: 'pytest',
    configs: /^(pytest\.ini|pyproject\.toml|tox\.ini|setup\.cfg|\.coveragerc)$/,
    writes: /^--cov(=|$)|\baddopts\b[\s\S]*?--cov\b/m,
    keeps: /--cov-append|BALLAST_BATCH/,
    remedy: 'give --cov-append',
    threshold: /^--cov-fail-under[=\n][1-9]|\baddopts\b[\s\S]*?--cov-fail-under[=\s][1-9]|^\s*fail_under\s*=\s*[1-9]/m,
    lift: /^--cov-fail-under=0$/m,
    lifting: '--cov-fail-under=0',
  },
  {
    of: 'rspec',
    configs: /^(\.simplecov|(spec|rails)_helper\.rb)$/,
    writes: /\bSimpleCov\.start\b/,
    remedy: "have ENV['BALLAST_BATCH'] in the command_name and the coverage_dir of SimpleCov",
    threshold: /\b(minimum_coverage|maximum_coverage_drop|refuse_coverage_drop)/,
  },
  {
    of: 'phpunit',
    configs: /^phpunit(\.dist)?\.xml(\.dist)?$/,
    writes: /^--coverage-\w+(=|$)|<(clover|cobertura|crap4j|html|php|text|xml)\b[^>]*\boutput(File|Directory)=/m,
    remedy: `give --coverage-php FILE, ${OWN_NAME}`,
  },
  { of: 'go test', configs: /^$/, writes: /^--?(test\.)?coverprofile(=|$)/m, remedy: `give -coverprofile=FILE, ${OWN_NAME}` },
  // The agent of JaCoCo adds to its file; Gradle deletes it before.
  {
    of: /^mvnw?$/,
    configs: /^pom\.xml$/,
    threshold: /\bjacoco\b[\s\S]*<goal>check</,
    checks: /^(verify|install|deploy|jacoco:check)$|<phase>test</m,
  },
  {
    of: /^gradlew?$/,
    configs: /^build\.gradle(\.kts)?$/,
    writes: /\bjacoco\b/,
    remedy: "have System.getenv('BALLAST_BATCH') in the destinationFile of JaCoCo",
    threshold: /\bviolationRules\b/,
    checks: /^\S*\b(check|build|jacocoTestCoverageVerification)$|\bfinalizedBy\b.*CoverageVerification/m,
  },
];

/** Finds coverage and reports that each batch overwrites, and thresholds that a part of the tests cannot reach. */
export function coverageFindings({ words, runner }: ReadCommand): Finding[] {
  const programs = words.map(word => word.split('/').at(-1)!);
  const command = words.join('\n');
  return TOOLS.filter(({ of }) => (typeof of === 'string' ? of === runner : programs.some(name => of.test(name)))).flatMap(tool => {
    const configs = configurations(tool.configs);
    return [...overwritten(tool, [command, ...configs.values()].join('\n')), ...thresholds(tool, command, configs)];
  });
}

function overwritten({ writes, keeps = /BALLAST_BATCH/, remedy = '' }: Tool, texts: string): Finding[] {
  if (!writes?.test(texts) || keeps.test(texts)) return [];
  return warning(
    'command.coverage_overwritten',
    'each batch is a command of its own, and overwrites the coverage or the report of the one before',
    `${remedy}: see the guide "Coverage and one report"`,
  );
}

function thresholds(
  { threshold, writes, checks = writes, lift, lifting }: Tool,
  command: string,
  configs: ReadonlyMap<string, string>,
): Finding[] {
  const texts = [['the command', command], ...configs] as const;
  if (!checks?.test(texts.map(([, text]) => text).join('\n')) || lift?.test(command)) return [];
  const [from] = texts.find(([, text]) => threshold?.test(text) && !text.includes('BALLAST_BATCH')) ?? [];
  if (from === undefined) return [];
  return warning(
    'command.coverage_threshold',
    `${from} has a threshold for coverage, and each batch covers a part of the code, so each batch would fail`,
    `${lifting ? `give ${lifting}` : 'lift it where BALLAST_BATCH is set'}, and check the merged coverage once: see the guide "Coverage and one report"`,
  );
}

/** The texts of configurations by their paths, without lines that are comments. */
function configurations(pattern: RegExp): Map<string, string> {
  const paths = ['.', 'spec'].flatMap(folder => {
    const names = namesIn(folder).filter(name => pattern.test(name));
    return names.map(name => join(folder, name));
  });
  return new Map(paths.filter(isFile).map(path => [path, readFileSync(path, 'utf8').replace(/^\s*(#|\/\/).*$/gm, '')]));
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
