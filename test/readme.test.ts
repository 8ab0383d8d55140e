import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from './harness/temporary-folder.js';

const readme = readFileSync(fileURLToPath(new URL('../../README.md', import.meta.url)), 'utf8');
const blocks = [...readme.matchAll(/^```sh\n(.*?)^```/gms)].flatMap(([, block]) => block!.split('\n\n'));
/** What a CI job runs and is judged by. */
const recipes = blocks.filter(block => /ballast (-- )?(queue|split|verify)|curl --fail/.test(block));

/**
 * Stands for every command of a recipe. Notes that it ran, and fails when it is the FAILS-th of them, with what it printed until then.
 * As `ballast queue` it runs its command for one file, which it is given in a list where it reads one.
 */
const STUB = `#!/bin/sh
name=\${0##*/}
echo "$name $1 $2" >> "$RAN"
case "$name $1 $2" in
  'npx ballast split') printf 'spec/a_spec.rb\\0spec/b_spec.rb\\0' ;;
  'go list '*) echo example.com/a ;;
esac
[ "$(wc -l < "$RAN")" -eq "$FAILS" ] && exit 3
[ "$name $1 $2" = 'npx ballast queue' ] || exit 0
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
  mkdirSync(join(folder, 'bin'));
  for (const name of ['npx', 'npm', 'bundle', 'go', 'python3', 'curl']) {
    writeFileSync(join(folder, 'bin', name), STUB);
    chmodSync(join(folder, 'bin', name), 0o755);
  }
  const ran = join(folder, 'ran');
  writeFileSync(ran, '');
  const { status } = spawnSync('sh', ['-c', recipe], { cwd: folder, env: { PATH: `${join(folder, 'bin')}:${process.env['PATH']}`, RAN: ran, FAILS: String(fails), API: 'http://127.0.0.1:1', TOKEN: 't' } });
  return { code: status, ran: readFileSync(ran, 'utf8').split('\n').slice(0, -1) };
}

describe('a recipe of the README', () => {
  it('is there for each runner, and for the gate', () => {
    const texts = recipes.join('\n');
    for (const part of ['jest', 'vitest', 'pytest', 'rspec', 'go test', 'ballast split', 'verify', 'completeness']) expect(texts).toContain(part);
  });

  it.each(recipes.map(recipe => [recipe.split('\n')[0]!, recipe] as const))('fails when any of its commands fails: %s', (_, recipe) => {
    const { code, ran } = run(recipe, 0);
    expect(code).toBe(0);
    expect(ran.length).toBeGreaterThan(0);
    for (const [i, command] of ran.entries()) expect({ command, isGreen: run(recipe, i + 1).code === 0 }).toEqual({ command, isGreen: false });
  });
});
