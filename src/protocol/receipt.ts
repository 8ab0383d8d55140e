/** What a receipt says: an in-toto Statement v1 (github.com/in-toto/attestation) about the tests of one CI run. It is the payload of an envelope. */

export const STATEMENT_PAYLOAD = 'application/vnd.in-toto+json';
export const STATEMENT_TYPE = 'https://in-toto.io/Statement/v1';
export const RECEIPT_PREDICATE = 'https://in-toto.io/attestation/test-result/v0.1';

/** Digests of one artifact, in lowercase hex, by the names of their algorithms. */
export type DigestSet = Record<string, string>;

export interface Statement {
  _type: typeof STATEMENT_TYPE;
  /** A verifier looks for each of them by its digest alone. */
  subject: { digest: DigestSet }[];
  predicateType: typeof RECEIPT_PREDICATE;
  predicate: TestResult;
}

/** The fields that the predicate requires, and those that it allows. */
export interface TestResult {
  result: 'PASSED' | 'WARNED' | 'FAILED';
  /** What was run, besides the subjects. */
  configuration: { name?: string; digest?: DigestSet; uri?: string }[];
  url?: string;
  passedTests?: string[];
  warnedTests?: string[];
  failedTests?: string[];
}

/** What is known of a CI run whose test files were all recorded. */
export interface ReceiptFacts {
  /** As the CI system names it. */
  commit: string;
  /** The Git tree that was tested: its SHA-1 or SHA-256, in lowercase hex. */
  tree: string;
  /** Flaky: failed, and passed when it was repeated. */
  test_files: readonly { path: string; outcome: 'passed' | 'failed' | 'flaky' | 'skipped' }[];
  /** `digestOfList` of all test files. */
  list_digest: string;
  /** SHA-256 of each key, in hex. */
  keys: readonly string[];
  /** SHA-256 of the command that ran the test files, in hex. */
  command_digest: string | null;
  /** The ids of the CI runs that proved test files which this one left out. */
  proved_by: readonly string[];
  /** Where the CI run is shown. */
  url: string;
}

/**
 * States the facts. The tree and the commit are two subjects, because the digests of one subject must be of one artifact, and a verifier that
 * knows either is content; a commit that is no hash of Git is none. Skipped files are in no list, because the predicate has only tests that
 * passed, warned or failed, and they did none of this: only the digest of the list covers them.
 */
export function toStatement({ commit, tree, test_files, list_digest, keys, command_digest, proved_by, url }: ReceiptFacts): Statement {
  const ended = (outcome: string) => test_files.filter(file => file.outcome === outcome).map(({ path }) => path);
  const [passedTests, warnedTests, failedTests] = [ended('passed'), ended('flaky'), ended('failed')];
  const configured = (name: string, sha256: string) => ({ name, digest: { sha256 } });
  return {
    _type: STATEMENT_TYPE,
    subject: [{ digest: { gitTree: tree } }, ...(isGitHash(commit) ? [{ digest: { gitCommit: commit.toLowerCase() } }] : [])],
    predicateType: RECEIPT_PREDICATE,
    predicate: {
      result: failedTests.length > 0 ? 'FAILED' : warnedTests.length > 0 ? 'WARNED' : 'PASSED',
      configuration: [
        configured('test-files', list_digest),
        ...keys.map(key => configured('key', key)),
        ...(command_digest === null ? [] : [configured('command', command_digest)]),
        ...proved_by.map(id => ({ name: 'proved-by', uri: `urn:uuid:${id}` })),
      ],
      url,
      passedTests,
      warnedTests,
      failedTests,
    },
  };
}

const isGitHash = (text: string) => /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/i.test(text);
