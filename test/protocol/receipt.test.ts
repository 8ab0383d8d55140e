import { describe, expect, it } from 'vitest';
import { type ReceiptFacts, toStatement } from '../../src/protocol/receipt.js';

const [TREE, COMMIT, LIST] = ['9'.repeat(40), 'd'.repeat(40), 'a'.repeat(64)];

const facts = (given: Partial<ReceiptFacts> = {}): ReceiptFacts => ({
  commit: COMMIT,
  tree: TREE,
  test_files: [{ path: 'a.spec.ts', outcome: 'passed' }],
  list_digest: LIST,
  keys: [],
  command_digest: null,
  proved_by: [],
  url: 'https://ci.example.com/1',
  ...given,
});

const ended = (...outcomes: ReceiptFacts['test_files'][number]['outcome'][]) =>
  facts({ test_files: outcomes.map((outcome, i) => ({ path: `${i}.spec.ts`, outcome })) });

describe('the statement of a receipt', () => {
  it('is a test result of in-toto, about the tree and the commit', () => {
    expect(toStatement(facts())).toEqual({
      _type: 'https://in-toto.io/Statement/v1',
      subject: [{ digest: { gitTree: TREE } }, { digest: { gitCommit: COMMIT } }],
      predicateType: 'https://in-toto.io/attestation/test-result/v0.1',
      predicate: {
        result: 'PASSED',
        configuration: [{ name: 'test-files', digest: { sha256: LIST } }],
        url: 'https://ci.example.com/1',
        passedTests: ['a.spec.ts'],
        warnedTests: [],
        failedTests: [],
      },
    });
  });

  it('is about the tree alone when the CI system names the commit in its own way', () => {
    const subject = (commit: string) => toStatement(facts({ commit })).subject.slice(1);
    for (const commit of ['r4711', 'd'.repeat(39), `${COMMIT}-dirty`, `${COMMIT}\n`, 'g'.repeat(40)]) expect(subject(commit)).toEqual([]);
    expect(subject('E'.repeat(64))).toEqual([{ digest: { gitCommit: 'e'.repeat(64) } }]);
  });

  it('has the keys and the command, if they are known, beside the list', () => {
    const { configuration } = toStatement(facts({ keys: ['b'.repeat(64), 'c'.repeat(64)], command_digest: 'e'.repeat(64) })).predicate;
    expect(configuration.map(({ name, digest }) => [name, digest?.sha256?.[0]])).toEqual([
      ['test-files', 'a'],
      ['key', 'b'],
      ['key', 'c'],
      ['command', 'e'],
    ]);
  });

  it.each([
    ['passed, though files were skipped', ended('passed', 'skipped'), 'PASSED'],
    ['warned, when a file passed only when it was repeated', ended('passed', 'flaky'), 'WARNED'],
    ['failed, when a file failed, whatever the others did', ended('flaky', 'failed', 'passed'), 'FAILED'],
  ])('says %s', (_, given, result) => {
    expect(toStatement(given).predicate.result).toBe(result);
  });

  it('names each file under its outcome, and skipped files nowhere', () => {
    expect(toStatement(ended('skipped', 'failed', 'flaky', 'passed')).predicate).toMatchObject({
      passedTests: ['3.spec.ts'],
      warnedTests: ['2.spec.ts'],
      failedTests: ['1.spec.ts'],
    });
  });
});
