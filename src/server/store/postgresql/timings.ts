import { fileOf } from '../../../protocol/test-case.js';
import { shortDigest } from '../../engine/keys.js';
import type { Timings } from '../../engine/ports/timings.js';
import type { Suite } from '../../engine/suites/suite.js';
import type { BranchExpectation, BranchTimings } from '../../planning/estimating/branch-timings.js';
import { measuredTimes, TEST_CASES_PER_FILE, timesOfCases } from '../../planning/estimating/measured-times.js';
import { pathKey, rangeOfCases, rangeOfPieces } from '../codecs/path-keys.js';
import { decodeExpectationOn, decodeTimings } from '../codecs/timing-codec.js';
import type { Database } from './connection/database.js';
import { lookUp } from './connection/look-up.js';
import { PATHS_PER_STATEMENT } from './connection/sql.js';
import { fromJson } from './json.js';
import type { Learner } from './learner.js';

interface Branches {
  branch: number;
  defaultBranch: number | null;
}

interface ProjectTimes extends Branches {
  hasTestCases: boolean;
  /** Advances when times are learned. */
  turn: number;
}

export function postgresqlTimings(database: Database, learner: Pick<Learner, 'learn'>) {
  /** Reads the inputs that planning needs of the times of a project, after all recorded runs count. */
  async function timesOf(project: number, branch: string): Promise<ProjectTimes> {
    await learner.learn(project);
    const [row] = await database.read<{ default_branch: string | null; has_test_cases: boolean; times_turn: number }>(
      'select default_branch, has_test_cases, times_turn from projects where id = $1',
      [project],
    );
    const name = fromJson<string>(row?.default_branch);
    return {
      branch: shortDigest(branch),
      defaultBranch: name === null ? null : shortDigest(name),
      hasTestCases: row?.has_test_cases ?? false,
      turn: row?.times_turn ?? 0,
    };
  }

  /**
   * The expectations of the paths of a suite, by file. The numbers of its paths are kept in the suite, which several requests and threads note
   * there: a number stays right or is found to be of an expired path, and 0 is noted in its place only.
   */
  async function expectationsOf(project: number, list: Suite, { branch, defaultBranch, turn }: ProjectTimes) {
    const noted = list.columns.numbers;
    const numbers = noted.slice();
    const expected = new Map<number, BranchExpectation>();
    const note = (file: number, timings: Buffer | null) => {
      const found = timings && decodeExpectationOn(timings, branch, defaultBranch);
      if (found) expected.set(file, found);
    };
    const files = new Map<number, number>();
    for (let file = 0; file < list.length; file++) if (numbers[file] !== 0) files.set(numbers[file]!, file);
    await database.readBy<{ number: number; timings: Buffer | null }>(
      lookUp('number, timings', 'paths', 'number', 'int4'),
      [...files.keys()],
      ({ number, timings }) => {
        note(files.get(number)!, timings);
        files.delete(number);
      },
    );
    // These paths have expired, and may have been recorded again since.
    for (const file of files.values()) {
      Atomics.compareExchange(noted, file, numbers[file]!, 0);
      numbers[file] = 0;
    }
    const looked = 1 + (turn % 0xff_ff_ff_ff);
    if (files.size === 0 && numbers[list.length] === looked) return expected;
    const unknown = new Map<string, number>();
    for (let file = 0; file < list.length; file++) if (numbers[file] === 0) unknown.set(pathKey(project, list.at(file)), file);
    await database.readBy<{ key: Buffer; number: number; timings: Buffer | null }>(
      lookUp('key, number, timings', 'paths', 'key', 'bytea'),
      Array.from(unknown.keys(), key => Buffer.from(key)),
      ({ key, number, timings }) => {
        const file = unknown.get(key.toString())!;
        noted[file] = number;
        note(file, timings);
      },
    );
    noted[list.length] = looked;
    return expected;
  }

  /** The expectations of paths that are in no list, by path. */
  async function expectationsOfPaths(project: number, paths: Iterable<string>, { branch, defaultBranch }: Branches) {
    const byKey = new Map(Array.from(paths, path => [pathKey(project, path), path]));
    const expected = new Map<string, BranchExpectation>();
    await database.readBy<{ key: Buffer; timings: Buffer | null }>(
      lookUp('key, timings', 'paths', 'key', 'bytea'),
      Array.from(byKey.keys(), key => Buffer.from(key)),
      ({ key, timings }) => {
        const found = timings && decodeExpectationOn(timings, branch, defaultBranch);
        if (found) expected.set(byKey.get(key.toString())!, found);
      },
    );
    return expected;
  }

  /** The timings of the paths in each range of keys, in their order: at most `TEST_CASES_PER_FILE`. */
  async function timingsIn(ranges: readonly { start: string; end: string }[]): Promise<BranchTimings[][]> {
    const found = ranges.map((): BranchTimings[] => []);
    for (let from = 0; from < ranges.length; from += PATHS_PER_STATEMENT) {
      const some = ranges.slice(from, from + PATHS_PER_STATEMENT);
      const rows = await database.read<{ range: number; timings: Buffer | null }>(
        `select r.range::int4 as range, c.timings from unnest($1::bytea[], $2::bytea[]) with ordinality as r (first, last, range)
        cross join lateral (select key, timings from paths where key >= r.first and key < r.last order by key limit $3) c
        order by r.range, c.key`,
        [some.map(({ start }) => Buffer.from(start)), some.map(({ end }) => Buffer.from(end)), TEST_CASES_PER_FILE],
      );
      for (const { range, timings } of rows) found[from + range - 1]!.push(timings ? decodeTimings(timings).timings : []);
    }
    return found;
  }

  /** The timings of the test cases of files. */
  async function casesOf(project: number, files: readonly string[]): Promise<Map<string, BranchTimings[]>> {
    const found = await timingsIn(files.map(file => rangeOfCases(project, file)));
    return new Map(files.map((file, i) => [file, found[i]!]));
  }

  return {
    async estimates(project, branchName, list, mostCases) {
      const times = await timesOf(project, branchName);
      const expected = await expectationsOf(project, list, times);
      const wholes = new Set<string>();
      const withCases: string[] = [];
      if (list.hasCases || times.hasTestCases) {
        for (let i = 0; i < list.length; i++) {
          if (expected.has(i)) continue;
          const file = fileOf(list.at(i));
          if (file !== null) wholes.add(file);
          else if (times.hasTestCases) withCases.push(list.at(i));
        }
      }
      const ofWholes = await expectationsOfPaths(project, wholes, times);
      const cases = await casesOf(project, withCases);
      return measuredTimes(
        list,
        {
          ...times,
          each: report => {
            for (const [file, expectation] of expected) report(file, expectation);
          },
          expectation: path => ofWholes.get(path),
          cases: times.hasTestCases ? (file, limit) => (cases.get(file) ?? []).slice(0, limit) : null,
        },
        mostCases,
      );
    },
    async ofPaths(project, branchName, numbers) {
      const { branch, defaultBranch } = await timesOf(project, branchName);
      const seconds = new Map<number, number>();
      await database.readBy<{ number: number; timings: Buffer | null }>(
        lookUp('number, timings', 'paths', 'number', 'int4'),
        [...new Set(numbers)],
        ({ number, timings }) => {
          const expected = timings && decodeExpectationOn(timings, branch, defaultBranch);
          if (expected) seconds.set(number, expected.seconds);
        },
      );
      return Float64Array.from(numbers, number => seconds.get(number) ?? NaN);
    },
    async cases(project, branchName, file) {
      const { branch, defaultBranch } = await timesOf(project, branchName);
      return timesOfCases((await casesOf(project, [file])).get(file) ?? [], branch, defaultBranch);
    },
    async measuredOn(project, branchName, files) {
      await learner.learn(project);
      const branch = shortDigest(branchName);
      const itself = (file: string) => ({ start: pathKey(project, file), end: `${pathKey(project, file)}\0` });
      const rangesOf = [itself, (file: string) => rangeOfPieces(project, file), (file: string) => rangeOfCases(project, file)];
      const found = await Promise.all(rangesOf.map(rangeOf => timingsIn(files.map(rangeOf))));
      const isOn = (timings: BranchTimings) => timings.some(timing => timing.branch === branch);
      return new Set(files.filter((_, i) => found.some(ofFiles => ofFiles[i]!.some(isOn))));
    },
    async all(from, limit) {
      const rows = await database.read<{ number: number; project: number; name: string; seen_at: number; timings: Buffer | null }>(
        'select number, project, name, seen_at, timings from paths where number >= $1 order by number limit $2',
        [from, limit],
      );
      return rows.map(({ name, timings, ...row }) => ({
        ...row,
        path: JSON.parse(name) as string,
        timings: timings ? decodeTimings(timings).timings : [],
      }));
    },
  } satisfies Timings;
}
