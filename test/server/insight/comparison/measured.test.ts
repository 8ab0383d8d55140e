import { expect, it } from 'vitest';
import { measuredBuild } from '../../../../src/server/insight/comparison/measured.js';
import { batchOf, timelineOf } from '../lanes.js';

it('a compared build has the time of all pieces of a file as its time, and none if a node lost a piece', () => {
  const { files, nodeOf } = measuredBuild(
    timelineOf([
      [batchOf(0, { 'a::piece 1 of 2': 3, 'b::piece 1 of 2': 3, c: 1 })],
      [batchOf(1, { 'a::piece 2 of 2': 4 }), batchOf(5, { 'b::piece 2 of 2': null })],
    ]),
  );
  expect(files).toEqual(
    new Map([
      ['c', 1],
      ['a', 7],
    ]),
  );
  expect(nodeOf.get('a')).toBe(1);
});
