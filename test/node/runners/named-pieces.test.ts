import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { CommandRunner } from '../../../src/node/client/command/command-runner.js';
import { askFilter } from '../../../src/node/pieces/filter.js';
import { jest } from '../../../src/node/pieces/jest.js';
import type { NamingRunner } from '../../../src/node/pieces/named-cases.js';
import type { CaseReport, Piece } from '../../../src/node/pieces/piece.js';
import { playwright } from '../../../src/node/pieces/playwright.js';
import { vitest } from '../../../src/node/pieces/vitest.js';
import { readJsonReport } from '../../../src/node/reports/json-reports.js';
import { readJunit } from '../../../src/node/reports/xml/junit.js';
import { plainEnvironment } from '../../harness/process.js';
import { temporaryFolder } from '../../harness/temporary-folder.js';

const packages = fileURLToPath(new URL('../../../../node_modules', import.meta.url));

interface Command {
  runner: NamingRunner;
  file: string;
  imports: string;
  describe: string;
  command: readonly string[];
  config?: readonly [string, string];
  environment?: Record<string, string>;
  /** True if the report lists cases that are not selected. */
  listsAll: boolean;
}

const vitestCommand: Omit<Command, 'command'> = {
  runner: vitest,
  file: 'a.test.js',
  imports: `import { appendFileSync } from 'node:fs'; import { describe, test } from 'vitest';`,
  describe: 'describe',
  listsAll: true,
};

const jestCommand: Omit<Command, 'command'> = {
  ...vitestCommand,
  runner: jest,
  imports: `const { appendFileSync } = require('node:fs');`,
  config: ['package.json', '{"jest":{"testEnvironment":"node","transform":{},"cacheDirectory":"cache"}}'],
  environment: { JEST_JUNIT_ADD_FILE_ATTRIBUTE: 'true', JEST_JUNIT_OUTPUT_FILE: 'report' },
};

const commands: Readonly<Record<string, Command>> = {
  'vitest with JUnit': { ...vitestCommand, command: ['vitest/vitest.mjs', 'run', '--reporter=junit', '--outputFile=report'] },
  'vitest with JSON': { ...vitestCommand, command: ['vitest/vitest.mjs', 'run', '--reporter=json', '--outputFile=report'] },
  'Jest with jest-junit': { ...jestCommand, command: ['jest/bin/jest.js', '--reporters=jest-junit', '--runTestsByPath'] },
  'Jest with JSON': { ...jestCommand, command: ['jest/bin/jest.js', '--json', '--outputFile=report', '--runTestsByPath'] },
  Playwright: {
    ...vitestCommand,
    runner: playwright,
    file: 'tests/a.spec.js',
    imports: `import { appendFileSync } from 'node:fs'; import { test } from '@playwright/test';`,
    describe: 'test.describe',
    command: ['@playwright/test/cli.js', 'test', '--reporter=junit', '--workers=1'],
    config: ['playwright.config.js', `export default { testDir: 'tests' };`],
    environment: { PLAYWRIGHT_JUNIT_OUTPUT_NAME: 'report' },
    listsAll: false,
  },
};

/** Titles of cases, of which none are the same for a runner. */
const TITLES = [
  'plain',
  'plain two',
  ' spaces  at the ends ',
  'line\nbreak',
  'a > b',
  'x \u203a y',
  '$& $1 ^.*+?()[]{}|/\\ %s',
  '(?:',
  '[a-z]+',
  `"double" 'single' \`back\``,
  '<xml> &amp; ]]>',
  '# ünïcödé 日本語 😀',
  'the same',
  'the same ',
  'escape \u001b[31m',
];

/** Without what this vitest tells the tests that it runs. */
function outerEnvironment(more: Readonly<Record<string, string>> = {}): NodeJS.ProcessEnv {
  const inner = Object.keys(process.env).filter(name => /^(VITEST|JEST|TEST$|NODE_ENV|PLAYWRIGHT)/.test(name));
  return plainEnvironment({ ...Object.fromEntries(inner.map(name => [name, undefined])), ...more, NO_COLOR: '1' });
}

class PiecesProject {
  readonly folder = realpathSync(temporaryFolder());

  constructor(readonly command: Command) {
    mkdirSync(join(this.folder, 'tests'));
    symlinkSync(packages, join(this.folder, 'node_modules'));
    const [name, content] = command.config ?? ['package.json', '{"type":"module"}'];
    this.write(name, content);
    if (name !== 'package.json') this.write('package.json', '{"type":"module"}');
  }

  write(path: string, content: string): void {
    writeFileSync(join(this.folder, path), content);
  }

  writeTests(path: string, titles: readonly string[]): void {
    const { imports, describe } = this.command;
    const testOf = (title: string, prefix = '') =>
      `test(${JSON.stringify(title)}, () => { appendFileSync('ran.txt', ${JSON.stringify(`${JSON.stringify(prefix + title)}\n`)}); });`;
    const inner = ` ${describe}(' inner (1) ', () => { ${testOf('plain', 'inner ')} ${testOf('within', 'inner ')} });`;
    this.write(path, [imports, ...titles.map(title => testOf(title)), `${describe}('suite', () => {${inner} });`].join('\n'));
  }

  /** Runs a piece, or the whole file. */
  async run(piece: Piece | null, file: string): Promise<{ code: number; output: string; ran: string[]; report: CaseReport }> {
    const { runner, command, environment } = this.command;
    for (const name of ['ran.txt', 'report']) rmSync(join(this.folder, name), { force: true });
    const path = join(this.folder, file);
    const folder = temporaryFolder();
    const selection = runner.select(piece && { ...piece, file: path }, folder, {})!;
    const [program = '', ...flags] = command;
    const child = spawn(process.execPath, [join('node_modules', program), ...flags, file, ...selection.args], {
      cwd: this.folder,
      env: outerEnvironment({ ...environment, ...selection.environment }),
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
    const output = `${stdout}${stderr}`;
    expect(existsSync(join(this.folder, 'report')), output).toBe(true);
    const report = readFileSync(join(this.folder, 'report'), 'utf8');
    const cases = report.startsWith('{') ? readJsonReport(report).cases : readJunit(report);
    const ran = existsSync(join(this.folder, 'ran.txt')) ? readFileSync(join(this.folder, 'ran.txt'), 'utf8').split('\n').slice(0, -1) : [];
    return { code: code as number, output, ran, report: runner.reportsOf([path], new Map([[path, cases]]), folder).get(path)! };
  }
}

describe.each(Object.entries(commands))('%s', (_, command) => {
  it('runs each case in one of three pieces, and a new one in the rest', { timeout: 240_000 }, async () => {
    const project = new PiecesProject(command);
    const { file } = command;
    project.writeTests(file, TITLES);
    const whole = await project.run(null, file);
    expect(whole.code, whole.output).toBe(0);
    expect(whole.ran).toHaveLength(TITLES.length + 2);
    const names = whole.report.cases.map(({ name }) => name);
    const named = [0, 1].map(part => names.filter((_, i) => i % 3 === part));
    project.writeTests(file, [...TITLES, 'new (case)']);
    const pieces: Piece[] = [
      ...named.map(cases => ({ path: 'named', file, cases, others: null, outcomes: new Map(), isTrial: false })),
      { path: 'rest', file, cases: names.filter((_, i) => i % 3 === 2), others: named.flat(), outcomes: new Map(), isTrial: false },
    ];
    const ran: string[][] = [];
    for (const piece of pieces) {
      const each = await project.run(piece, file);
      expect(each.code, each.output).toBe(0);
      const report = each.report.cases.filter(({ outcomes }) => outcomes.passed).map(({ name }) => name);
      expect(report.length).toBeGreaterThan(0);
      if (piece.others === null) for (const name of report) expect(piece.cases).toContain(name);
      expect(each.report.listed?.size ?? null).toBe(command.listsAll ? names.length + 1 : null);
      ran.push(each.ran);
    }
    expect(ran.flat().toSorted()).toEqual([...whole.ran, '"new (case)"'].toSorted());
    expect(ran[2]).toContain('"new (case)"');
    for (const each of ran) expect(each.length).toBeGreaterThan(2);
  });
});

const FILTER = '^((?!@destroys).)*$';
const WITH_FILTER: readonly [keyof typeof commands & string, string, Readonly<Record<string, string>>, string | null][] = [
  ['vitest with JUnit', 'its configuration', { 'vitest.config.js': `export default { test: { testNamePattern: /${FILTER}/ } };` }, FILTER],
  [
    'vitest with JUnit',
    'a project',
    { 'vitest.config.js': `export default { test: { projects: [{ test: {} }, { test: { testNamePattern: '${FILTER}' } }] } };` },
    FILTER,
  ],
  ['vitest with JUnit', 'nothing', { 'vitest.config.js': `export default { test: { globalSetup: './throws.js' } };` }, null],
  [
    'Jest with JSON',
    'its configuration',
    { 'package.json': `{"jest":{"transform":{},"cacheDirectory":"cache","testNamePattern":${JSON.stringify(FILTER)}}}` },
    FILTER,
  ],
  ['Jest with JSON', 'nothing', { 'throws.js': '' }, null],
];

it.each(WITH_FILTER)('%s tells the filter of %s before a piece runs', { timeout: 60_000 }, async (name, _, files, pattern) => {
  const { runner, command } = commands[name]!;
  const project = new PiecesProject(commands[name]!);
  project.writeTests('a.test.js', ['plain']);
  writeFileSync(join(project.folder, 'throws.js'), `export default () => { throw new Error('nothing is to run'); };`);
  for (const [path, content] of Object.entries(files)) writeFileSync(join(project.folder, path), content);
  const [program = '', ...flags] = command;
  // As many projects call it.
  const wrapper = `cd "$0" && echo "> test" && ${process.execPath} node_modules/${program} ${flags.join(' ')} "$@" && echo done`;
  const reason = await askFilter({ name: 'it', runner }, async (args, output) => {
    await new CommandRunner().run(['sh', '-c', wrapper, project.folder, 'a.test.js', ...args], outerEnvironment(), output);
  });
  expect(reason).toEqual(pattern === null ? null : (expect.stringContaining(`testNamePattern`) as string));
  if (pattern !== null) expect(reason).toContain(pattern);
  expect(existsSync(join(project.folder, 'ran.txt'))).toBe(false);
});

describe('how many cases with a name ended in each way is reported of', () => {
  async function reportOf(command: Command, content: string) {
    const project = new PiecesProject(command);
    project.write(command.file, `${command.imports}\n${content}`);
    const { report, output } = await project.run(null, command.file);
    expect(report, output).toBeDefined();
    return Object.fromEntries(report.cases.map(({ name, outcomes }) => [name.trim(), outcomes]));
  }

  it.each(['vitest with JUnit', 'vitest with JSON'])('%s', { timeout: 120_000 }, async name => {
    const content = `
let tries = 0;
test('twice', () => {});
test('twice', ({ skip }) => skip());
test('tried again', { retry: 1 }, () => { if (++tries < 2) throw new Error('no'); });`;
    expect(await reportOf(commands[name]!, content)).toEqual({ twice: { passed: 1, skipped: 1 }, 'tried again': { passed: 1 } });
  });

  it.each(['Jest with jest-junit', 'Jest with JSON'])('%s', { timeout: 120_000 }, async name => {
    const content = `
jest.retryTimes(1);
let tries = 0;
test('twice', () => {});
test.skip('twice', () => {});
test('tried again', () => { if (++tries < 2) throw new Error('no'); });`;
    expect(await reportOf(commands[name]!, content)).toEqual({ twice: { passed: 1, skipped: 1 }, 'tried again': { passed: 1 } });
  });

  it('Playwright, in two projects', { timeout: 120_000 }, async () => {
    const config = [
      'playwright.config.js',
      `export default { testDir: 'tests', retries: 1, projects: [{ name: 'p' }, { name: 'q' }] };`,
    ] as const;
    const content = `
test('fails in one', ({}, { project }) => { test.fail(project.name === 'q'); if (project.name === 'q') throw new Error('no'); });
test('is skipped in one', ({}, { project }) => { test.skip(project.name === 'q'); });
test('is tried again', ({}, { retry }) => { if (retry === 0) throw new Error('no'); });
test.fail('fails', () => { throw new Error('no'); });`;
    expect(await reportOf({ ...commands.Playwright!, config }, content)).toEqual({
      'fails in one': { passed: 1, expected_failure: 1 },
      'is skipped in one': { passed: 1, skipped: 1 },
      'is tried again': { passed: 2 },
      fails: { expected_failure: 2 },
    });
  });
});
