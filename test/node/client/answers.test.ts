import { describe, expect, it } from 'vitest';
import {
  completenessParser,
  parseBatch,
  parseBatchOrMiss,
  parseBuildList,
  parseRecording,
  pullParser,
  splitOrMissParser,
  splitParser,
} from '../../../src/node/client/answers.js';
import type { AnswerParser } from '../../../src/node/client/api.js';
import { nothingMissing } from '../../harness/completeness.js';

/** Bodies that a proxy, a login page or another server may answer with. */
const nonsense: unknown[] = [
  undefined,
  null,
  true,
  0,
  1,
  '',
  'ok',
  [],
  [{}],
  {},
  { message: 'ok' },
  { code: 'OK' },
  { code: null },
  { errors: ['x'] },
  { data: [] },
];
const statuses = [100, 200, 201, 202, 204, 206, 301, 304, 400, 404, 409, 422];

type Answers = readonly (readonly [status: number, body: unknown])[];

const accepted = (parse: AnswerParser<unknown>, pairs: Answers) => pairs.filter(([status, body]) => parse({ status, body }) !== null);
const acceptedNonsense = (parse: AnswerParser<unknown>) =>
  accepted(
    parse,
    statuses.flatMap(status => nonsense.map(body => [status, body] as const)),
  );
/** Asserts that these answers are accepted, and of the wrong ones and of all nonsense only `nonsense`. */
function expectAccepted(parse: AnswerParser<unknown>, valid: Answers, wrong: Answers = [], nonsense: Answers = []): void {
  expect(accepted(parse, valid)).toEqual(valid);
  expect([...accepted(parse, wrong), ...acceptedNonsense(parse)]).toEqual(nonsense);
}
/** Returns answers with one field changed each; undefined: without the field. */
const changed = (body: object, changes: Record<string, readonly unknown[]>) =>
  Object.entries(changes).flatMap(([name, values]) =>
    values.map(value => [200, JSON.parse(JSON.stringify({ ...body, [name]: value }))] as const),
  );

describe('an answer to a pull', () => {
  const end = { paths: [], batch_id: null, node_uuid: 'node', batch_index: 3 };
  const miss = { code: 'ATTEMPT_CONNECT_TO_QUEUE_FAILED', message: '' };

  it('must name the same pull: an answer to an old pull or another node does not end the queue', () => {
    const wrong = changed(end, { node_uuid: [undefined, null, 'other'], batch_index: [undefined, null, 2] });
    expect(accepted(pullParser('node', 3, parseBatch), [[200, end], ...wrong])).toEqual([[200, end]]);
    expect(accepted(pullParser('node', 3, parseBatchOrMiss), [[200, miss], ...wrong])).toEqual([[200, miss]]);
  });
});

describe('an answer to split', () => {
  const split = {
    build_distribution_id: 'id',
    node_index: 1,
    test_files_digest: 'digest',
    test_files: [
      { path: 'a.js', time_execution: 1.5 },
      { path: 'b.js', time_execution: null },
    ],
  };
  const miss = { code: 'TEST_SUITE_SPLIT_CACHE_MISS' };

  it('has the files of this node, or says that there is no split, in no other form', () => {
    const valid = [
      [200, split],
      [200, { ...split, test_files: [] }],
      [200, { ...split, more: 1 }],
    ] as const;
    const wrong = [
      ...changed(split, {
        build_distribution_id: [undefined, null, 1, ''],
        node_index: [undefined, null, '1', 0, 2, -1, 1.5],
        test_files_digest: [undefined, null, 'of another list'],
        test_files: [
          undefined,
          null,
          {},
          'a.js',
          ['a.js'],
          [null],
          [[]],
          [{ path: 'a.js' }],
          [{ path: '', time_execution: 1 }],
          [{ path: 1, time_execution: 1 }],
        ],
        code: [miss.code, null],
      }),
      ...changed(split, { test_files: ['1', -1, true, {}].map(time_execution => [{ path: 'a.js', time_execution }]) }),
      [201, split],
      [202, split],
      [409, split],
      [200, [split]],
      [201, miss],
      [409, miss],
      [200, [miss]],
      [200, { code: 'ATTEMPT_CONNECT_TO_QUEUE_FAILED', message: '' }],
    ] as const;
    expectAccepted(splitOrMissParser(1, 'digest'), [...valid, [200, miss]], wrong);
    expectAccepted(splitParser(1, 'digest'), valid, [[200, miss], ...wrong]);
  });
});

describe('an answer to queue', () => {
  const batch = { paths: ['a.js', 'b.js'], batch_id: 0, times: [1, null] };
  const end = { paths: [], batch_id: null };
  const miss = { code: 'ATTEMPT_CONNECT_TO_QUEUE_FAILED', message: 'there is none' };

  it('is a batch with times, the end of the queue, or says that there is no queue, in no other form', () => {
    const valid = [
      [200, batch],
      [200, end],
      [200, { ...end, times: [] }],
      [200, { ...batch, more: 1 }],
      [200, { ...batch, forecast: { test_files: '8' } }],
    ] as const;
    const misses = [
      [200, miss],
      [200, { ...miss, queue_name: 'q' }],
    ] as const;
    const wrong = [
      ...changed(batch, {
        paths: [undefined, null, {}, 'ab', ['a.js', ''], ['a.js', 1], ['a.js'], []],
        batch_id: [undefined, null, '0', -1, 0.5, 1e300],
        times: [undefined, null, {}, [1], [1, 2, 3], [1, -1], [1, '1']],
        code: [miss.code],
      }),
      ...changed(end, { paths: [undefined, null], batch_id: [undefined, 0, 1, false], times: [[null]], code: [miss.code, null] }),
      [201, batch],
      [201, end],
      [204, end],
      [409, end],
      [200, [end]],
      ...changed(miss, {
        code: ['TEST_SUITE_SPLIT_CACHE_MISS', 'attempt_connect_to_queue_failed'],
        message: [undefined, 1],
        paths: [[], ['a.js']],
      }),
      [409, miss],
    ] as const;
    expectAccepted(parseBatchOrMiss, [...valid, ...misses], wrong);
    expectAccepted(parseBatch, valid, [[200, miss], ...wrong]);
  });
});

describe('an answer to a recording', () => {
  it('is 201 for a stored run and 202 for a run that is not stored', () => {
    expect(parseRecording({ status: 201, body: undefined })).toEqual({ isStored: true, message: null });
    expect(parseRecording({ status: 201, body: { message: 'update' } })).toEqual({ isStored: true, message: 'update' });
    expect(parseRecording({ status: 202, body: { message: 'too many' } })).toEqual({ isStored: false, message: 'too many' });
  });

  it('is rejected in any other form', () => {
    const wrong = [
      [201, { message: 1 }],
      [202, { message: '' }],
      [201, [{ message: 'x' }]],
    ] as const;
    const recordings = [
      [201, undefined],
      [201, { message: 'ok' }],
      [202, { message: 'ok' }],
    ] as const;
    expectAccepted(parseRecording, recordings, wrong, recordings);
  });
});

describe('an answer to verify', () => {
  const complete = {
    ...nothingMissing,
    is_complete: true,
    kind: 'queue',
    test_files: 2,
    recorded: 2,
  };
  const incomplete = {
    ...complete,
    is_complete: false,
    recorded: 0,
    errors: ['why'],
    never_handed_out: [{ path: 'a.js' }],
    handed_out_not_recorded: [{ path: 'b.js', node_index: 0, handed_out_at: null }],
  };

  it('says whether the build is complete, consistently with its status and with itself', () => {
    const ranOnly = { ...complete, recorded: 1, ran_not_recorded: [{ path: 'a.js', node_index: 0 }] };
    const valid = [
      [200, complete],
      [200, ranOnly],
      [409, incomplete],
      [409, { ...incomplete, kind: null }],
    ] as const;
    const wrong = [
      [409, complete],
      [200, incomplete],
      [200, { ...incomplete, is_complete: true }],
      [409, { ...complete, is_complete: false }],
      [201, complete],
      [404, incomplete],
      ...changed(complete, {
        about: [null, 'a build'],
        is_complete: [undefined, 1, 'true', null],
        kind: [undefined, null, 'suite', 1],
        test_files: [undefined, null, '2', 1, -1],
        recorded: [undefined, null, 3, 1.5, 1],
        errors: [undefined, null, 'no', {}, [1]],
        warnings: [undefined, [null]],
        never_handed_out: [undefined, null, ['a.js'], [{ path: 'a.js' }]],
        handed_out_not_recorded: [
          undefined,
          [{ path: 'a.js' }],
          [{ path: 'a.js', node_index: 0, handed_out_at: 1 }],
          incomplete.handed_out_not_recorded,
        ],
        ran_not_recorded: [undefined, null, [{ path: 'a.js' }]],
        recorded_without_time: [undefined, null, ['a.js']],
        nodes_came: [undefined, ['0']],
        nodes_never_came: [undefined, ['0']],
      }),
    ] as const;
    expectAccepted(completenessParser(null), valid, wrong);
    expectAccepted(completenessParser('queue'), valid, wrong);
    expect(accepted(completenessParser('split'), valid)).toEqual(valid.slice(3));
  });
});

describe('an answer to a list of builds', () => {
  it('is a page of this server or of another one', () => {
    const valid = [
      [200, { data: [] }],
      [200, { data: [{ id: 'x', created_at: null }, { id: 'y' }], meta: { is_last_page: true } }],
    ] as const;
    const wrong = [
      [200, { data: [{}] }],
      [200, { data: [{ id: 1 }] }],
      [200, { data: [{ id: '' }] }],
      [200, { data: [], meta: { is_last_page: 'no' } }],
    ] as const;
    expectAccepted(parseBuildList, valid, wrong, [[200, { data: [] }]]);
  });
});
