import { expect, it } from 'vitest';
import { queueKey, splitKey } from '../../src/engine/keys.js';

const BUILD = { commit_hash: 'abc', branch: 'main', node_total: 3 };
const OTHER_BUILDS = [{ commit_hash: 'abd' }, { branch: 'next' }, { node_total: 4 }].map(part => ({ ...BUILD, ...part }));

it('queues of different projects, builds and CI runs have different keys', () => {
  const keys = [
    queueKey(1, BUILD, '7'),
    queueKey(2, BUILD, '7'),
    queueKey(1, BUILD, '8'),
    ...OTHER_BUILDS.map(build => queueKey(1, build, '7')),
  ];
  expect(new Set(keys.map(({ digest }) => digest)).size).toBe(keys.length);
});

it('splits of different projects, builds and, unless they are fixed, CI runs have different keys', () => {
  const keys = [
    splitKey(1, BUILD, '', true),
    splitKey(2, BUILD, '', true),
    ...OTHER_BUILDS.map(build => splitKey(1, build, '', true)),
    ...['7', '8', 'null', ''].map(ci_run => splitKey(1, BUILD, ci_run, false)),
  ];
  expect(new Set(keys.map(({ digest }) => digest)).size).toBe(keys.length);
  expect(splitKey(1, { ...BUILD }, '9', true).digest).toBe(keys[0]!.digest);
});
