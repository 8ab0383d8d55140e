// Tries Ballast's client on Windows, against a server on another machine: lists, quoting, scripts, exit codes, the end of a command that hangs,
// paths. Prints a line for each case, and ends with 1 if one fails. It needs no package:
//   set BALLAST_URL=http://ballast.example.com:8080
//   set BALLAST_TOKEN=...
//   node scripts\ci\windows\try-client.mjs
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { arch, platform, release, tmpdir } from 'node:os';
import { dirname, join, sep } from 'node:path';

const { BALLAST_URL, BALLAST_TOKEN } = process.env;
if (!BALLAST_URL || !BALLAST_TOKEN) {
  console.error('try-client: cannot try the client: set BALLAST_URL and BALLAST_TOKEN, of a project for trials');
  process.exit(2);
}

const PASSES = "import { test } from 'node:test'; test('passes', () => {});";
const FAILS = "import { test } from 'node:test'; test('fails', () => { throw new Error('it fails'); });";
const HANGS = "import { test } from 'node:test'; test('hangs', () => new Promise(end => setTimeout(end, 600_000)));";
const FILES = {
  'bad/fails': FAILS,
  'bad/passes': PASSES,
  'long/hangs': HANGS,
  'long/passes': PASSES,
  ...Object.fromEntries(
    ['test/a', 'test/b', 'sp ace/a b', 'ümlaut/é', 'odd/a&b', 'sp ace/100%PATH%', 'odd/(x) y^z!', "odd/it's", 'odd/a;b,c=d'].map(name => [
      name,
      PASSES,
    ]),
  ),
};
const REPORTED = ['--junit', 'node.xml', '--', 'node', '--test', '--test-reporter=./ballast-node-test.mjs'].concat([
  '--test-reporter-destination=node.xml',
  '{}',
]);

// Elsewhere than on Windows it tries the same cases with the paths and a script of that system, so that a test can run it.
const isWindows = platform() === 'win32';
const SCRIPT = isWindows ? 'run.cmd' : './run.sh';
const globOf = name => `${name}${sep}*.test.mjs`;

/** Each has a name, the arguments of the client, its exit code and what it prints. "verify" and "record" belong to the CI run of the case before. */
const CASES = [
  ['the version', ['--version'], 0, /^\d+\.\d+\.\d+/],
  ['globs with slashes', ['queue', '{test,odd,sp ace,ümlaut}/*.test.mjs', '--', 'node', '--test', '{}'], 0, /recorded 9 test files/],
  ['the gate', ['verify'], 0, /complete: 9 of 9/],
  [
    'globs with separators of the system, and a script',
    ['queue', globOf('test'), globOf('odd'), '--', SCRIPT, '{}'],
    0,
    /recorded 6 test files/,
  ],
  ['its gate', ['verify'], 0, /complete: 6 of 6/],
  ['a test that fails', ['queue', globOf('bad'), ...REPORTED], 1, /failed: bad\/fails\.test\.mjs/],
  ['a command that hangs', ['queue', globOf('long'), '--time-limit', '10', ...REPORTED], 1, /hung: long\/hangs\.test\.mjs/],
  ['a command that does not exist', ['queue', globOf('test'), '--', 'no-such-command', '{}'], isWindows ? 1 : 127, /no-such-command/],
  ['a split', ['split', globOf('test')], 0, /^test\/[ab]\.test\.mjs\r?$/m],
  ['its recording', ['record', 'given.xml', '--files-from', 'given.txt', '--exit-code', '0'], 0, /recorded 2 test files/],
  ['its gate', ['verify'], 0, /complete: 2 of 2/],
];

const folder = mkdtempSync(join(tmpdir(), 'ballast-try-'));
process.chdir(folder);
for (const name of ['ballast.mjs', 'ballast-node-test.mjs']) {
  const answer = await fetch(`${BALLAST_URL}/${name}`);
  if (!answer.ok) throw new Error(`cannot download ${name}: ${BALLAST_URL} answered with ${answer.status}`);
  writeFileSync(name, await answer.text());
}
for (const [name, text] of Object.entries(FILES)) {
  mkdirSync(dirname(name), { recursive: true });
  writeFileSync(`${name}.test.mjs`, `${text}\n`);
}
writeFileSync(SCRIPT, isWindows ? '@echo off\r\nnode --test %*\r\n' : '#!/bin/sh\nexec node --test "$@"\n');
chmodSync(SCRIPT, 0o755);
const given = ['a', 'b'].map(name => join('test', `${name}.test.mjs`));
writeFileSync('given.txt', given.map(path => `${path}${isWindows ? '\r' : ''}\n`).join(''));
const cases = given.map(path => `<testcase name="passes" file="${path}" time="1"/>`);
writeFileSync('given.xml', `<testsuites><testsuite name="given">${cases.join('')}</testsuite></testsuites>\n`);

console.log(`Node ${process.version} on ${platform()} ${release()}, ${arch()}`);
const id = Date.now();
let ciRun = 0;
let failures = 0;
for (const [name, args, code, text] of CASES) {
  if (!['verify', 'record'].includes(args[0])) ciRun += 1;
  const node = { BALLAST_NODE_TOTAL: '1', BALLAST_NODE_INDEX: '0', BALLAST_BRANCH: 'try-client', BALLAST_BUILD_ID: `${id}-${ciRun}` };
  const { status, stdout, stderr } = spawnSync(process.execPath, ['ballast.mjs', ...args], {
    encoding: 'utf8',
    env: { ...process.env, ...node, BALLAST_COMMIT_HASH: `${id}-${ciRun}` },
    timeout: 120_000,
  });
  const said = stdout + stderr;
  const passed = status === code && text.test(said);
  if (!passed) failures += 1;
  console.log(passed ? `ok      ${name}` : `FAILED  ${name}: exit code ${status} instead of ${code}\n${said}`);
}
process.chdir(tmpdir());
rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
console.log(failures === 0 ? `All ${CASES.length} cases passed.` : `${failures} of ${CASES.length} cases failed.`);
process.exit(failures === 0 ? 0 : 1);
