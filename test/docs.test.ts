import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { ciSystemOf } from '../src/dashboard/pages/set-up/ci-systems.js';
import { runners } from '../src/dashboard/pages/set-up/runners.js';
import { snippetOf } from '../src/dashboard/pages/set-up/snippet.js';
import { nameOf, systems } from '../src/node/ci/systems.js';
import { settings } from '../src/server/process/settings.js';
import { runInProcess } from './harness/run-in-process.js';
import { temporaryFolder } from './harness/temporary-folder.js';

const root = fileURLToPath(new URL('../../', import.meta.url));
const guides = readdirSync(join(root, 'src/docs'), { recursive: true, encoding: 'utf8' }).filter(path => path.endsWith('.md'));
/** The README and the guides, by their paths from the root. */
const documents = new Map(
  ['README.md', ...guides.map(path => `src/docs/${path}`)].map(path => [path, readFileSync(join(root, path), 'utf8')]),
);

/** The tours of the source, which name files from their own folder or that of the server on. */
const tours = ['src', 'src/server', 'src/node', 'src/dashboard'].map(
  folder => [`${folder}/README.md`, readFileSync(join(root, folder, 'README.md'), 'utf8')] as const,
);

const blocks = [...documents.values()]
  .flatMap(text => [...text.matchAll(/^```sh\n(.*?)^```/gms)])
  .flatMap(([, block]) => block!.split('\n\n'));
/** The commands of CI jobs. */
const recipes = blocks.filter(block => /ballast(\.mjs)? (-- )?(queue|split|verify)|curl --fail/.test(block));
/** Recipes that the page Set-up shows, behind the names of their runners. */
const steps = runners
  .filter(({ client }) => client === 'ballast')
  .map(runner => [runner.name, snippetOf(ciSystemOf('other'), runner, { url: 'http://127.0.0.1:1', nodes: 2, token: 't' })] as const);

/**
 * Stands for every command of a recipe. It writes its name to $RAN, and fails if it is the FAILS-th command, after its output. As `ballast
 * queue` it runs its test command for one file; with --stdin it needs a list.
 */
const STUB = `#!/bin/sh
name=\${0##*/}
if [ "$name" = node ] && [ "\${1##*/}" = ballast.mjs ]; then
  [ -e "\${1%ballast.mjs}not-fetched" ] && exit 1
  name=ballast
  shift
fi
echo "$name $1 $2" >> "$RAN"
case "$name $1 $2" in
  'ballast split '*) printf 'spec/a_spec.rb\\0spec/b_spec.rb\\0' ;;
  'go list '*) echo example.com/a ;;
  'bazel query '*) echo //a:a_test ;;
  'npx nx show') echo web ;;
esac
if [ "$(wc -l < "$RAN")" -eq "$FAILS" ]; then
  [ "$name $1" = 'curl -fsSO' ] && : > not-fetched
  exit 3
fi
[ "$name $1" = 'ballast queue' ] || exit 0
case " $* " in *' --stdin '*) [ -n "$(cat)" ] || exit 2 ;; esac
while [ "$1" != -- ]; do shift; done
shift
for argument; do
  shift
  [ "$argument" = '{}' ] && argument=a
  set -- "$@" "$argument"
done
"$@"
`;

/** Runs a recipe in a shell. The FAILS-th of its commands fails; 0: none does. */
function run(recipe: string, fails: number): { code: number | null; ran: string[] } {
  const folder = temporaryFolder();
  for (const name of ['bin', 'tests', 'src/test/java/a', 'vendor/bin']) mkdirSync(join(folder, name), { recursive: true });
  writeFileSync(join(folder, 'src/test/java/a/CartTest.java'), '');
  for (const name of ['binaries.txt', 'classes.txt', 'packages.txt']) writeFileSync(join(folder, name), 'a\n');
  const names = ['npx', 'npm', 'node', 'bundle', 'go', 'mvn', 'python3', 'curl', 'bazel', 'cargo', 'dotnet', 'flutter'];
  for (const path of [...names.map(name => `bin/${name}`), 'gradlew', 'vendor/bin/phpunit']) {
    writeFileSync(join(folder, path), STUB);
    chmodSync(join(folder, path), 0o755);
  }
  const ran = join(folder, 'ran');
  writeFileSync(ran, '');
  const { status } = spawnSync('sh', ['-c', recipe], {
    cwd: folder,
    env: { PATH: `${join(folder, 'bin')}:${process.env.PATH}`, RAN: ran, FAILS: String(fails), API: 'http://127.0.0.1:1', TOKEN: 't' },
  });
  return { code: status, ran: readFileSync(ran, 'utf8').split('\n').slice(0, -1) };
}

/** Separates prose, code blocks and code spans. */
function split(text: string): { prose: string; blocks: string[]; spans: string[] } {
  const blocks = [...text.matchAll(/^```\w*\n(.*?)^```/gms)].map(([, block]) => block!);
  const withoutBlocks = text.replace(/^```.*?^```/gms, '');
  return {
    prose: withoutBlocks.replace(/`[^`]+`/g, ''),
    blocks,
    spans: [...withoutBlocks.matchAll(/`([^`]+)`/g)].map(([, span]) => span!),
  };
}

/** Returns the anchors that GitHub makes from the headings of a document. */
function anchorsOf(path: string): string[] {
  const withoutBlocks = readFileSync(join(root, path), 'utf8').replace(/^```.*?^```/gms, '');
  return [...withoutBlocks.matchAll(/^#+ (.*)$/gm)].map(([, heading]) =>
    heading!
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

/** Returns the help text of a command. */
async function help(...command: string[]): Promise<string> {
  const { stdout, code } = await runInProcess([...command, '--help']);
  expect(code).toBe(0);
  return stdout;
}

/** Returns the first words of the matching lines of a help text. */
const listed = (text: string, begin: RegExp) => [...text.matchAll(begin)].map(([, name]) => name!);

const commandsOf = (text: string) => listed(text.split('\nCommands:')[1] ?? '', /^ {2}([a-z-]+)\b/gm).filter(name => name !== 'help');
const flagsOf = (text: string) => listed(text, /^ {2}(?:-\w, )?(--[a-z-]+)/gm);

/** Flags of other programs. */
const runnerFlags = [
  '--shard',
  '--reporter',
  '--testSequencer',
  '--bail',
  '--last-failed',
  '--onlyFailures',
  '--changed',
  '--onlyChanged',
  '--grep',
];
const foreignFlags = [
  ...runnerFlags,
  '--runTestsByPath',
  '--fail',
  '--spec',
  '--tests',
  '--collect-only',
  '--deselect',
  '--filter',
  '--test-list',
  '--showConfig',
  '--test-list-invert',
  '--cov-append',
  '--skip-nx-cache',
  '--affected',
  '--splits',
  '--group',
  '--store-durations',
  '--timings-type',
  '--env',
  '--group-by',
  '--only-group',
];
/** Flags that a plugin adds to a test runner. */
const pluginFlags = listed(readFileSync(join(root, 'src/node/runners/pytest/ballast_pytest.py'), 'utf8'), /addoption\(\s*"(--[a-z-]+)"/g);

describe('a recipe of the README, the guides and the page Set-up', () => {
  it('exists for each runner and for the completeness gate', () => {
    const texts = recipes.join('\n');
    for (const part of [
      'jest',
      'vitest',
      'pytest',
      'rspec',
      'go test',
      'mvn',
      'gradlew',
      'phpunit',
      'bazel',
      'ballast.mjs split',
      'verify',
      'completeness',
    ])
      expect(texts).toContain(part);
  });

  it.each([...recipes.map(recipe => [recipe.split('\n')[0]!, recipe] as const), ...steps])(
    'fails if any of its commands fails: %s',
    (_, recipe) => {
      const { code, ran } = run(recipe, 0);
      expect(code).toBe(0);
      expect(ran.length).toBeGreaterThan(0);
      for (const [i, command] of ran.entries())
        expect({ command, isGreen: run(recipe, i + 1).code === 0 }).toEqual({ command, isGreen: false });
    },
  );
});

describe('a call of the program', () => {
  /** A program that fetches packages, its flags, and the name of ours: ballast, ballast@latest. */
  const CALL =
    /\b(?:npx|pnpx|bunx|(?:npm|pnpm|yarn|bun) (?:exec|dlx|x|i|install|add))((?: -[\w-]+(?:[= ][\w./:+-]+)??)*) (?:-- )?ballast\b(?![./-])/g;
  const isSafe = (flags: string) => / --(no(-install)?(?![-\w])|package=(\.\/|git\+))/.test(flags);
  const unsafeCalls = (text: string) =>
    [...text.replace(/[\s\\'",`]+/g, ' ').matchAll(CALL)].filter(([, flags]) => !isSafe(flags!)).map(([call]) => call);

  it('is recognised if it may run a package of that name from the public registry', () => {
    const unsafe = [
      ...['npx ballast queue', 'npx -y ballast', 'npx\nballast@latest', "['npx', 'ballast']", 'npx -p ballast ballast verify'],
      ...['npm exec -- ballast split', 'pnpm dlx ballast', 'bunx ballast', 'npm install --no-save ballast'],
    ];
    for (const text of unsafe) expect({ text, calls: unsafeCalls(text).length }).toEqual({ text, calls: 1 });
    const safe = ['npx --no ballast', 'npx --yes --package=./ballast-client-0.1.0.tgz ballast queue', 'node ballast.mjs queue -- npx jest'];
    for (const text of safe) expect({ text, calls: unsafeCalls(text) }).toEqual({ text, calls: [] });
  });

  it('never runs a package of that name from the public registry: no guide, page, pipeline, message or script has one that may', () => {
    const files = ['src', 'scripts', '.ci'].flatMap(folder =>
      readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
        .filter(entry => entry.isFile() && !entry.name.endsWith('.png'))
        .map(entry => join(entry.parentPath, entry.name)),
    );
    const unsafe = [join(root, 'README.md'), join(root, 'package.json'), ...files].flatMap(path =>
      unsafeCalls(readFileSync(path, 'utf8')).map(call => `${path}: ${call}`),
    );
    expect(files.length).toBeGreaterThan(100);
    expect(unsafe).toEqual([]);
  });
});

describe('the tours of the source', () => {
  it('can be read in a few minutes', () => {
    const words = tours.map(([path, text]) => [path, text.split(/\s+/).length <= (path === 'src/README.md' ? 900 : 500)]);
    expect(words.filter(([, isShort]) => !isShort)).toEqual([]);
  });

  it('name files and folders that exist', () => {
    const paths = ['src', 'test', 'scripts', 'bench'].flatMap(folder =>
      readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map(path => `/${folder}/${path}`),
    );
    const missing = tours.flatMap(([path, text]) =>
      listed(text, /`([a-z-]+(?:\/[a-z-]+)*(?:\/|\.tsx?|\.mjs))`/g)
        .filter(name => !paths.some(each => each.endsWith(`/${name.replace(/\/$/, '')}`)))
        .map(name => `${path}: ${name}`),
    );
    expect(missing).toEqual([]);
  });
});

describe('the README and the guides', () => {
  it('are short enough to be read', () => {
    for (const [path, text] of documents)
      expect({ path, isShort: text.split('\n').length <= (path === 'README.md' ? 250 : 200) }).toEqual({ path, isShort: true });
  });

  it('are all in the index, which has a group for each shelf', () => {
    const [, index] = documents.get('README.md')!.split('\n## Guides\n');
    const groups = index!.split(/^\| \*\*/m).map(group => listed(group, /^\| \[.+?\]\(src\/docs\/([\w-]+\/[\w-]+\.md)\)/gm));
    expect(groups.flat().sort()).toEqual([...guides].sort());
    expect(groups.map(group => new Set(group.map(path => dirname(path))).size)).toEqual([0, 1, 1, 1, 1, 1]);
  });

  it('link to files and headings that exist', () => {
    const broken = [...documents, ...tours].flatMap(([path, text]) =>
      [...text.replace(/^```.*?^```/gms, '').matchAll(/\]\(([^)\s]+)\)/g)]
        .map(([, target]) => target!)
        .filter(target => {
          if (/^https?:/.test(target)) return false;
          const [file, anchor] = target.split('#') as [string, string?];
          const found = file === '' ? path : join(dirname(path), file);
          return !existsSync(join(root, found)) || (anchor !== undefined && !anchorsOf(found).includes(anchor));
        })
        .map(target => `${path}: ${target}`),
    );
    expect(broken).toEqual([]);
  });

  it('name commands, flags and variables that exist', async () => {
    const commands = new Map([['help', await help('help')]]);
    for (const name of commandsOf(await help())) commands.set(name, await help(name));
    const subcommands = await Promise.all([...commands].flatMap(([name, text]) => commandsOf(text).map(sub => help(name, sub))));
    const helps = [...commands.values(), ...subcommands];
    const flags = new Set([...helps.flatMap(flagsOf), '--help', ...foreignFlags, ...pluginFlags]);
    const ready = readFileSync(join(root, 'scripts/ci/gitlab/ballast.yml'), 'utf8');
    const plugins = readFileSync(join(root, 'src/node/runners/node-part.ts'), 'utf8');
    const mark = readFileSync(join(root, 'src/node/client/command/command-runner.ts'), 'utf8');
    const variables = new Set([...helps, ready, plugins, mark].flatMap(text => listed(text, /\b(BALLAST_[A-Z_]+)/g)));
    const scripts = Object.keys((JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { scripts: object }).scripts);

    const unknown = [...documents].flatMap(([path, text]) => {
      // The table of runners has their flags.
      const { blocks, spans } = split(path.endsWith('/runners.md') ? text.slice(0, text.indexOf('\n## Runners')) : text);
      const calls = [...blocks.map(block => block.replaceAll('\\\n', ' ')), ...spans].flatMap(code => [
        // The first one may be the name of a container.
        ...code.matchAll(/\bballast (?:-- )?(?!ballast\b)([a-z][a-z-]*)\b([^\n]*)/g),
      ]);
      return [
        ...listed(text, /\b(BALLAST_[A-Z][A-Z_]*)/g).filter(name => !variables.has(name)),
        ...listed(text, /\bnpm run (?:-s )?([a-z][a-z:-]*)/g).filter(name => !scripts.includes(name)),
        ...spans.flatMap(span => listed(span, /^(--[A-Za-z][A-Za-z-]*)/g)).filter(flag => !flags.has(flag)),
        ...calls.flatMap(([call, command, rest]) => {
          const known = commands.get(command!);
          if (known === undefined) return [call];
          return listed(rest!.split(' -- ')[0]!, /\s(--[a-z][a-z-]*)/g).filter(
            flag => !flagsOf(known).includes(flag) && commandsOf(known).length === 0,
          );
        }),
      ].map(name => `${path}: ${name}`);
    });
    expect(unknown).toEqual([]);

    const commandLine = documents.get('src/docs/reference/command-line.md')!;
    for (const [name, text] of commands) {
      expect(commandLine).toContain(`| \`${name}`);
      if (name !== 'serve')
        for (const flag of flagsOf(text).filter(flag => flag !== '--help'))
          expect(commandLine).toMatch(new RegExp(`\`(-0\`, \`)?${flag}[ \`]`));
    }
  });

  it('list every setting with its default', () => {
    const rows = documents.get('src/docs/operate/settings.md')!.split('\n');
    for (const [name, { env, flag, defaultText: fallback }] of Object.entries(settings)) {
      const row = rows.find(text => text.startsWith('|') && text.includes(`\`${env}\``));
      expect({ env, row }).toMatchObject({ row: expect.any(String) as string });
      if (flag !== null) expect(row).toContain(`\`${flag.split(' ')[0]}\``);
      // The default depends on the number of cores.
      if (fallback !== '' && name !== 'workers') expect(row).toContain(`\`${fallback}\``);
    }
  });

  it('name the CI systems that the client knows, and their variables', () => {
    const text = documents.get('src/docs/connect/ci-systems.md')!;
    const { spans } = split(text);
    for (const { name } of systems) expect(text).toContain(name);
    const variables = systems.flatMap(({ nodeIndex, nodeTotal, buildId }) => [...nodeIndex, ...nodeTotal, ...buildId].map(nameOf));
    for (const span of spans) if (/^[A-Z][A-Z_]+$/.test(span) && !span.startsWith('BALLAST_')) expect(variables).toContain(span);
  });
});
