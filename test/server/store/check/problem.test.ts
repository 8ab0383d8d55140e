import { expect, it } from 'vitest';
import { placesOf, problemOf } from '../../../../src/server/store/check/problem.js';

const NAMES = new Map([1, 2, 3, 4, 5, 6, 7].map(number => [number, `project ${number}`]));

it('no problem is in no place', () => {
  expect(placesOf([], NAMES)).toBeNull();
});

it('problems are counted by project and table while they are found', () => {
  function* found() {
    for (let i = 0; i < 100_000; i++) {
      const project = [1, null, 9][i % 3]!;
      yield problemOf(i % 2 === 0 ? 'queues' : 'runs', i, project)('is wrong');
    }
  }
  expect(placesOf(found(), NAMES)).toBe('33334 problems in queues, runs of the project "project 1"; 66666 problems in runs, queues');
});

it('of many projects with problems, some are named, and the others counted', () => {
  const found = [...NAMES.keys()].map(project => problemOf('queues', 'key', project)('is wrong'));
  expect(placesOf(found, NAMES)).toMatch(/^(1 problem in queues of the project "project \d"; ){5}and in 2 other projects$/);
});
