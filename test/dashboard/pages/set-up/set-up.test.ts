import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { ciSystems } from '../../../../src/dashboard/pages/set-up/ci-systems.js';
import { runnerOf, runners } from '../../../../src/dashboard/pages/set-up/runners.js';
import { secretOf, snippetOf } from '../../../../src/dashboard/pages/set-up/snippet.js';
import { systems } from '../../../../src/node/ci/systems.js';

const guide = (name: string) => readFileSync(new URL(`../../../../../src/docs/connect/${name}`, import.meta.url), 'utf8');
const setting = { url: 'http://ballast.example:8080', nodes: 3, token: null };
const systemOf = (id: string) => ciSystems.find(system => system.id === id)!;
const spansOf = (text: string) => [...text.matchAll(/`([^`]+)`/g)].map(([, span]) => span!);

/** The rows of the table of CI systems in the guide: name, index and number, CI run. */
const rows = guide('ci-systems.md')
  .split('\n')
  .filter(line => /^\| [A-Z].*\|.*\|.*\|$/.test(line) && !line.includes('CI system |'))
  .flatMap(line => {
    const [names, numbers, run] = line.slice(1, -1).split('|');
    return names!.split(',').map(name => ({ name: name.trim(), numbers: numbers!.trim(), run: run!.trim() }));
  });

describe('the CI systems of the set-up page', () => {
  it('are those that the client programs know', () => {
    expect(
      ciSystems
        .map(system => system.name)
        .filter(name => name !== 'Another system')
        .sort(),
    ).toEqual(systems.map(system => system.name).sort());
  });

  it.each(ciSystems.filter(system => system.id !== 'other'))('number nodes and name the CI run as the guide tells: $name', system => {
    const row = rows.find(({ name }) => name === system.name)!;
    expect(snippetOf(system, runnerOf('jest', null), setting).includes('BALLAST_NODE_INDEX')).toBe(row.numbers.startsWith('set '));
    expect(system.run === null ? 'set `BALLAST_BUILD_ID`' : `\`${system.run}\``).toBe(row.run);
  });

  it('set the variables of clients of Knapsack Pro where the guide tells', () => {
    const text = guide('clients.md').replace(/\s+/g, ' ');
    const listed = (list: RegExp) => {
      const names = list.exec(text)![1]!.split(/, | and /);
      return ciSystems.filter(({ name }) => names.some(each => name.startsWith(each)));
    };
    expect(ciSystems.filter(system => system.isRunKnown)).toEqual(listed(/ themselves on (.*?), and on /));
    expect(ciSystems.filter(system => system.needsFixedQueue)).toEqual(listed(/FIXED_QUEUE_SPLIT=true` on (.*?), and for /));
  });

  const examples = [...guide('ready-made.md').matchAll(/^```yaml\n# (\S+)\n(.*?)^```/gms)];

  it.each(examples.map(([, file, job]) => [file, job!] as const))('number nodes as the job of the guide: %s', (file, job) => {
    const snippet = snippetOf(ciSystems.find(system => system.file === file)!, runnerOf('vitest', null), { ...setting, nodes: 4 });
    const lines = job.split('\n').filter(line => /parallel|matrix|checkout/.test(line));
    expect(lines.length).toBeGreaterThan(0);
    expect(snippet.split('\n')).toEqual(expect.arrayContaining(lines));
  });
});

describe('the runners of the set-up page', () => {
  it.each([
    ['spec/models/user_spec.rb', 'rspec'],
    ['tests/api/test_users.py', 'pytest'],
    ['src/cart.test.ts', 'vitest'],
    ['src/cart.test.js', 'jest'],
    ['e2e/checkout.spec.ts', 'playwright'],
    ['features/cart.feature', 'jest'],
    [null, 'jest'],
  ])('begin with the one that runs %s', (path, id) => {
    expect(runnerOf(null, path).id).toBe(id);
    expect(runnerOf('go', path).id).toBe('go');
  });

  const recipes = [...guide('runners.md').matchAll(/^```sh\n(.*?)\n```/gms)].flatMap(([, block]) =>
    block!.split('\n\n').map(recipe => ({ script: recipe.replace(/^#.*\n/, ''), suffix: undefined })),
  );
  // Further commands of a row are named by their last words.
  const clients = guide('clients.md')
    .split('\n')
    .map(row => row.split('|').map(spansOf))
    .flatMap(([, , commands = [], suffixes = []]) =>
      commands.map((command, i) => ({ script: i === 0 ? command : commands[0]!.replace(/\w+$/, command), suffix: suffixes[i] })),
    );

  it.each(runners)('run as the guides tell: $id', ({ client, script, suffix }) => {
    expect(client === 'ballast' ? recipes : clients).toContainEqual({ script, suffix });
  });
});

describe('a snippet', () => {
  it.each(ciSystems.flatMap(system => runners.map(runner => [system.name, runner.name, system, runner] as const)))(
    'has the address, the name of the secret and the tests, and no token: %s, %s',
    (_, __, system, runner) => {
      const text = snippetOf(system, runner, setting);
      expect(text).toContain('http://ballast.example:8080');
      // GitLab, CircleCI, Buildkite, Bitbucket and Semaphore set secrets as variables of each job.
      if (['github', 'azure', 'jenkins'].includes(system.id)) expect(text).toContain(secretOf(runner));
      const escaped = (line: string) => (system.id === 'buildkite' ? line.replaceAll('$', '$$$$') : line);
      for (const line of runner.script) expect(text).toContain(escaped(line));
      expect(text).not.toMatch(/undefined|null,/);
    },
  );

  it('numbers the nodes of a matrix of GitHub Actions', () => {
    const text = snippetOf(systemOf('github'), runnerOf('jest', null), setting);
    expect(text).toContain('matrix: {node: [0, 1, 2]}');
    // biome-ignore lint/suspicious/noTemplateCurlyInString: an expression of GitHub Actions
    expect(text).toContain('BALLAST_NODE_INDEX: ${{ strategy.job-index }}');
    expect(text).toContain('curl -fsSO --retry 6 --retry-connrefused "$BALLAST_URL/ballast.mjs"');
  });

  it('escapes dollar signs where the upload of a pipeline replaces them', () => {
    expect(snippetOf(systemOf('buildkite'), runnerOf('go', null), setting)).toContain('go test "$$@" > go-test.txt; code=$$?;');
  });

  it('names the CI run to clients that do not know it', () => {
    const text = snippetOf(systemOf('semaphore'), runnerOf('knapsack-rspec', null), setting);
    expect(text).toContain('export KNAPSACK_PRO_TEST_QUEUE_ID="$SEMAPHORE_WORKFLOW_ID"');
    expect(text).toContain('KNAPSACK_PRO_FIXED_QUEUE_SPLIT=true');
    expect(snippetOf(systemOf('gitlab'), runnerOf('knapsack-rspec', null), setting)).not.toContain('TEST_QUEUE_ID');
  });

  it('has a token that was just created where a shell takes it', () => {
    const text = snippetOf(systemOf('other'), runnerOf('jest', null), { ...setting, token: 'abc123' });
    expect(text).toContain('export BALLAST_TOKEN=abc123');
    expect(text).toContain('export BALLAST_NODE_INDEX=0\nexport BALLAST_NODE_TOTAL=3\n');
  });

  it('quotes an address for the shell', () => {
    const text = snippetOf(systemOf('bitbucket'), runnerOf('jest', null), { ...setting, url: "http://a/$(id)'" });
    expect(text).toContain("export BALLAST_URL='http://a/$(id)'\\'''");
  });
});
