import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));
const read = (path: string) => readFileSync(join(root, path), 'utf8');

interface Locked {
  dev?: boolean;
  devOptional?: boolean;
  cpu?: string[];
  optionalDependencies?: Record<string, string>;
}
const locked = (JSON.parse(read('package-lock.json')) as { packages: Record<string, Locked> }).packages;
const installed = Object.entries(locked).filter(([path, { dev, devOptional }]) => path !== '' && !dev && !devOptional);

/** Names of the texts that packages lack, by the beginning of the paths of these packages. */
const texts = new Map([
  ['node_modules/uWebSockets.js', 'uWebSockets.js'],
  ['node_modules/@uwsjs/', 'uWebSockets.js'],
  ['node_modules/@streamparser/json', '@streamparser+json'],
  ['node_modules/weak-lru-cache', 'weak-lru-cache'],
  ['node_modules/pgpass', 'pgpass'],
  ['node_modules/pg-types', 'pg-types'],
]);

function hasLicence(path: string): boolean {
  const text = [...texts].find(([prefix]) => path.startsWith(prefix))?.[1];
  if (text !== undefined) return /warrant/i.test(read(`scripts/deploy/licences/${text}.txt`));
  // A package with a binary for one platform has the licence of the package that installs it.
  const parent = installed.find(([, { optionalDependencies = {} }]) => path.replace(/^node_modules\//, '') in optionalDependencies);
  if (locked[path]!.cpu && parent) return hasLicence(parent[0]);
  return existsSync(join(root, path)) && readdirSync(join(root, path)).some(name => /^(licen[cs]e|copying)/i.test(name));
}

it('every package of an installation without development packages has the text of its licence, in its folder or in the image', () => {
  expect(installed.length).toBeGreaterThan(20);
  expect(installed.map(([path]) => path).filter(path => !hasLicence(path))).toEqual([]);
});

it('so has every package whose code is in the program, and no package of an installation is also in it', () => {
  const { program } = JSON.parse(read('dist/bundled-packages.json')) as { program: string[] };
  const bundled = program.map(name => `node_modules/${name}`);
  expect(bundled.length).toBeGreaterThan(20);
  expect(bundled.filter(path => !hasLicence(path))).toEqual([]);
  expect(bundled.filter(path => installed.some(([other]) => other === path))).toEqual([]);
});

it('the bundle of the dashboard has the licences of the packages in it', () => {
  const text = read('dist/src/dashboard/licences.txt');
  for (const author of ['Jason Miller', 'Leon Sorokin']) expect(text).toContain(author);
});
