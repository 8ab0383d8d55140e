import { pick, type Random, randomInteger } from '../../../test/testbed/random.js';
import type { CiRun, Job, PieceFault, Scenario } from './scenario.js';

/** Scenarios in which nodes run long files in pieces. */

/** Probabilities that such a scenario has none of the faults of others, one of pieces, and a second one. */
const NO_OTHER_FAULT = 0.4;
const PIECE_FAULT = 0.8;
const SECOND_PIECE_FAULT = 0.35;

const MOST_LONG_FILES = 2;
const MOST_CASES = 8;

/** Has all nodes of a scenario without faults run some of its files in pieces, whose cases an earlier CI run reported. */
export function addPieces(scenario: Scenario, random: Random): void {
  const [run] = scenario.ciRuns as [CiRun];
  const { files, node } = run.jobs[0]!;
  const count = Math.max(run.nodeTotal, 2);
  const flags = pick(random, ['', '', '', '--fail-unreported', '--trust-exit-code', '--may-be-empty=**']);
  const known = Object.fromEntries(
    Array.from({ length: randomInteger(random, MOST_LONG_FILES) }, () => [pick(random, files), drawCases(random)] as const),
  );
  const jobs = Array.from(
    { length: count },
    (_, i): Job => ({
      ...run.jobs[0]!,
      node: node + i,
      mode: 'queue',
      pieces: true,
      flags,
      runner: { ...run.jobs[0]!.runner, hasReport: true },
    }),
  );
  const played: CiRun = { ...run, nodeTotal: count, jobs, cases: known };
  const reportedBy = pick(random, ['a request', 'a request', 'the first CI run'] as const);
  // Leases expire in a run of this program only if files are short.
  scenario.pieces = { known, caseSeconds: scenario.leases ? 0.2 : 20, reportedBy, areProven: reportedBy === 'a request' && random() < 0.5 };
  scenario.hasTimes = true;
  scenario.ciRuns = reportedBy === 'a request' ? [played] : [{ ...structuredClone(played), buildId: '0' }, played];
}

function drawCases(random: Random): string[] {
  const names = Array.from({ length: 3 + randomInteger(random, MOST_CASES) }, (_, i) => `test_${i}`);
  if (random() < 0.3) mark(names, 'skipped', random);
  return names;
}

function mark(names: string[], what: string, random: Random): void {
  const at = Math.floor(random() * names.length);
  names[at] = `test_${numberOf(names[at]!)}_${what}`;
}

const numberOf = (name: string): string => /\d+/.exec(name)![0];

/** The faults of pieces by name, as `--only` takes it. */
export const pieceFaults = {
  'a piece is lost': ({ ciRuns }: Scenario, random: Random) => {
    const at = { piece: random() < 0.5 ? ('rest' as const) : ('named' as const), afterwards: random() < 0.5 };
    const isRetried = random() < 0.5;
    const signal = random() < 0.6 ? 'KILL' : 'TERM';
    for (const job of ciRuns.at(-1)!.jobs) job.kill = { signal, at, isRetried };
  },
  'cases change': (scenario: Scenario, random: Random) => {
    changeCases(scenario, names => {
      const changed = [...names];
      for (let i = randomInteger(random, 2); i > 0; i--) pick(random, changes)(changed, random);
      return changed;
    });
  },
  'cases need others': (scenario: Scenario, random: Random) => needOthers(scenario, pick(random, ['needs', 'breaks']), random),
  'a case fails as expected in a piece': (scenario: Scenario, random: Random) => needOthers(scenario, 'pends', random),
  'one of two cases is skipped in a piece': (scenario: Scenario, random: Random) => needOthers(scenario, 'twin', random),
  'cases are flaky': (scenario: Scenario, random: Random) => {
    changeCases(scenario, names => {
      const changed = [...names];
      const at = Math.floor(random() * changed.length);
      changed[at] = `${/^test_\d+/.exec(changed[at]!)![0]}_flaky`;
      return changed;
    });
    // Its name is the one that was reported.
    const last = scenario.ciRuns.at(-1)!;
    if (scenario.pieces && random() < 0.8) {
      scenario.pieces.known = last.cases;
      for (const run of scenario.ciRuns) run.cases = last.cases;
    }
    last.retriesFailedJobs ||= random() < 0.8;
  },
  'the runner is faulty': ({ ciRuns }: Scenario, random: Random) => {
    const kinds = ['the selection is ignored', 'the hook is not loaded', 'the hook tells nothing', 'a piece ends early'] as const;
    const fault: PieceFault = { kind: pick(random, kinds), every: randomInteger(random, 2) };
    for (const job of ciRuns.at(-1)!.jobs) if (random() < 0.8) job.runner = { ...job.runner, pieceFault: fault };
  },
  'a node runs no pieces': ({ ciRuns }: Scenario, random: Random) => {
    pick(random, ciRuns.at(-1)!.jobs).pieces = false;
  },
} satisfies Record<string, (scenario: Scenario, random: Random) => void>;

/** Draws the names of the faults. @param others those of a scenario without pieces */
export function drawPieceFaults(others: readonly string[], random: Random): string[] {
  const names = Object.keys(pieceFaults);
  const drawn = new Set(random() < NO_OTHER_FAULT ? [] : others);
  if (random() < PIECE_FAULT) {
    drawn.add(pick(random, names));
    if (random() < SECOND_PIECE_FAULT) drawn.add(pick(random, names));
  }
  return [...drawn];
}

/** Changes the cases of all long files in the last CI run. */
function changeCases({ ciRuns }: Scenario, change: (names: readonly string[]) => string[]): void {
  const last = ciRuns.at(-1)!;
  last.cases = Object.fromEntries(Object.entries(last.cases).map(([file, names]) => [file, change(names)]));
}

/** Has a case of each long file need one that precedes it. It did when their names were reported, too. */
function needOthers(scenario: Scenario, kind: string, random: Random): void {
  changeCases(scenario, names => needing(names, kind, random));
  const last = scenario.ciRuns.at(-1)!;
  if (scenario.pieces) scenario.pieces.known = last.cases;
  for (const run of scenario.ciRuns) run.cases = last.cases;
}

/** Has a case need one that precedes it. */
function needing(names: readonly string[], kind: string, random: Random): string[] {
  const changed = [...names];
  const at = 1 + Math.floor(random() * (changed.length - 1));
  const before = changed[Math.floor(random() * at)]!;
  changed[at] = `test_${numberOf(changed[at]!)}_${kind}_${numberOf(before)}`;
  return changed;
}

/** A number that no case has. */
const newNumber = (names: readonly string[]): number => 100 + names.length;

const changes: readonly ((names: string[], random: Random) => void)[] = [
  function add(names, random) {
    names.splice(Math.floor(random() * (names.length + 1)), 0, `test_${newNumber(names)}`);
  },
  function addOneThatNeedsAnother(names, random) {
    const other = numberOf(pick(random, names));
    names.push(`test_${newNumber(names)}_${pick(random, ['needs', 'twin', 'pends', 'breaks'])}_${other}`);
  },
  function rename(names, random) {
    names[Math.floor(random() * names.length)] = `test_${newNumber(names)}`;
  },
  function renameAll(names) {
    for (const [i, name] of names.entries()) names[i] = name.replace(/\d+/, number => String(200 + Number(number)));
  },
  function remove(names, random) {
    if (names.length > 1) names.splice(Math.floor(random() * names.length), 1);
  },
  function reverse(names) {
    names.reverse();
  },
  function runSkipped(names) {
    for (const [i, name] of names.entries()) names[i] = name.replace('_skipped', '');
  },
];
