import { expect, it } from 'vitest';
import type { Build } from '../../../../src/server/engine/ports/builds.js';
import type { FailedBuild } from '../../../../src/server/engine/ports/failures.js';
import { codeOf } from '../../../../src/server/engine/test-file.js';
import { failuresOfRuns, type NodeRun, type RecordedCiRun } from '../../../../src/server/insight/flaky/failures-of-runs.js';
import { filesOf } from '../../../../src/server/insight/flaky/flakes-of-file.js';
import { seededRandom } from '../../../testbed/random.js';
import { DAY, NOW } from '../../store/contract/fixtures.js';

const PROJECTS = 200;
const BUILDS = 200;
const [PASSED, FAILED, FLAKY] = [codeOf('passed'), codeOf('failed'), codeOf('flaky')];

/** A project with flaky files of known rates. Everything else that fails has another reason. */
class Project {
  readonly files: number;
  readonly nodes: number;
  /** A failed file runs again on another node, or in its test runner, or the whole build is started again. */
  readonly repeats: 'retry' | 'runner' | 'restart';
  readonly rates = new Map<number, number>();
  /** Of two files, the second one fails if it runs on the same node, after the first one. */
  readonly pairs: [number, number][] = [];
  readonly days: number;
  /** Files that are broken, with the first build that has them mended. */
  readonly #broken = new Map<number, number>();
  readonly outageFiles = new Set<number>();
  readonly brokenFiles = new Set<number>();
  outages = 0;

  constructor(readonly random: () => number) {
    this.nodes = 2 + this.#below(7);
    this.files = this.nodes * (20 + this.#below(60));
    this.repeats = (['retry', 'runner', 'restart'] as const)[this.#below(3)]!;
    this.days = 10 + this.#below(80);
    const flaky = 2 + this.#below(Math.min(12, Math.floor(this.files / 10)));
    for (let i = 0; i < flaky; i++) this.rates.set(this.#below(this.files), 0.01 + 0.19 * random());
    for (let i = 0; i < 2; i++) this.pairs.push([this.#below(this.files), this.#below(this.files)]);
  }

  #below(count: number): number {
    return Math.floor(this.random() * count);
  }

  /** Plays a build. Returns its CI runs. */
  play(build: number): RecordedCiRun[] {
    if (this.random() < 0.1) for (let i = 0; i <= this.#below(2); i++) this.#break(build);
    for (const [file, mended] of this.#broken) if (mended <= build) this.#broken.delete(file);
    const ciRuns: RecordedCiRun[] = [];
    let isRed = true;
    for (let i = 0; isRed && i < (this.repeats === 'restart' ? 3 : 1); i++) {
      const runs = this.#ciRun(build, i);
      ciRuns.push({ setting: 'list', runs });
      isRed = runs.some(({ outcomes }) => outcomes.includes(FAILED));
    }
    return ciRuns;
  }

  #break(build: number): void {
    const file = this.#below(this.files);
    this.#broken.set(file, build + 1 + this.#below(3));
    this.brokenFiles.add(file);
  }

  #ciRun(build: number, ordinal: number): NodeRun[] {
    const order = Array.from({ length: this.files }, (_, file) => ({ file, at: this.random() })).sort((a, b) => a.at - b.at);
    const parts = Array.from({ length: this.nodes }, (_, node) => order.filter((_, i) => i % this.nodes === node).map(({ file }) => file));
    const failed = this.#outageIn(parts);
    const isOutage = failed.size > 0;
    for (const part of parts)
      for (const file of part) if (this.#broken.has(file) || this.random() < (this.rates.get(file) ?? 0)) failed.add(file);
    for (const [before, file] of this.pairs)
      if (parts.some(part => part.includes(before) && part.indexOf(before) < part.indexOf(file))) failed.add(file);
    const outcomes = parts.map(part => part.map(file => (failed.has(file) ? FAILED : PASSED)));
    if (this.repeats !== 'restart' && !isOutage && failed.size <= 10)
      for (const [node, part] of [...parts.entries()])
        for (const [i, file] of [...part.entries()]) {
          if (!failed.has(file)) continue;
          const passes = !this.#broken.has(file) && this.random() >= (this.rates.get(file) ?? 0);
          if (this.repeats === 'runner') {
            // The pair runs in the same order again.
            if (passes && !this.pairs.some(([, second]) => second === file)) outcomes[node]![i] = FLAKY;
          } else {
            const other = (node + 1) % this.nodes;
            parts[other]!.push(file);
            outcomes[other]!.push(passes ? PASSED : FAILED);
          }
        }
    return parts.map((part, node_index) => ({
      node_index,
      created_at: NOW + ((build + ordinal / 4) / BUILDS) * this.days * DAY,
      paths: Uint32Array.from(part),
      outcomes: Uint8Array.from(outcomes[node_index]!),
      seconds: new Float64Array(part.length).fill(10),
    }));
  }

  /** A node breaks at some file and fails all others, or a service is away for a time and part of all files fail, or some of a batch. */
  #outageIn(parts: readonly (readonly number[])[]): Set<number> {
    const failed = new Set<number>();
    const kind = this.random();
    if (kind < 0.01) for (const file of parts[0]!.slice(-5 - this.#below(parts[0]!.length - 4))) failed.add(file);
    else if (kind < 0.02) {
      const share = 0.15 + 0.5 * this.random();
      for (const part of parts) for (const file of part) if (this.random() < share) failed.add(file);
    } else if (kind < 0.03) {
      const from = this.#below(parts[1]!.length - 12);
      for (const file of parts[1]!.slice(from, from + 5 + this.#below(8))) failed.add(file);
    }
    this.outages += Number(failed.size > 0);
    for (const file of failed) this.outageFiles.add(file);
    return failed;
  }
}

/** The chance that the second file of a pair fails in a CI run: both on one node, in this order. */
const pairRate = ({ nodes }: Project) => 1 / (2 * nodes);

/** Plays the builds of a project. Returns the files that are listed, as GET /v1/flaky lists them, and the outages. */
function listed(project: Project) {
  const failed: FailedBuild[] = [];
  const builds = new Map<number, number>();
  let outages = 0;
  for (let number = 0; number < BUILDS; number++) {
    const at = NOW + (number / BUILDS) * project.days * DAY;
    const before = new Set(failed.flatMap(({ failures }) => failures.files.flatMap(({ path, isFlaky }) => (isFlaky ? path : []))));
    const failures = failuresOfRuns(project.play(number), before);
    const build = { number, id: `${number}`, commit_hash: `c${number}`, branch: 'main', created_at: at } as Build;
    if (failures.files.length + failures.outages.length > 0) failed.unshift({ build, failures: { at, ...failures } });
    outages += failures.outages.length;
    const day = Math.floor(at / DAY);
    builds.set(day, (builds.get(day) ?? 0) + 1);
  }
  const events = failed.flatMap(({ build, failures: { at, files } }) => files.map(file => ({ build, at, file })));
  const names = new Map(events.map(({ file }) => [file.path, `${file.path}`]));
  const known = {
    days: [...builds].map(([day, count]) => ({ day, builds: count })),
    settings: { price: null, setup: null, billing_step: null },
    failing: new Map<number, Build>(),
    now: NOW + project.days * DAY,
  };
  return { files: filesOf(events, names, known), outages };
}

it('lists at least 95 % of the flaky files above 3 %, and at most one other file a project', () => {
  const random = seededRandom(20_261_130);
  const sums = { planted: 0, listed: 0, open: 0, flaky: 0, false: 0, worst: 0, ofOutage: 0, outages: 0, seen: 0, within: 0, rated: 0 };
  for (let i = 0; i < PROJECTS; i++) {
    const project = new Project(random);
    const { files, outages } = listed(project);
    const byFile = new Map(files.map(file => [Number(file.path), file]));
    const pairs = project.pairs.map(([, file]) => file);
    for (const [file, rate] of project.rates) {
      if (rate <= 0.03 || pairs.includes(file)) continue;
      sums.planted += 1;
      const found = byFile.get(file);
      sums.listed += Number(found !== undefined);
      sums.open += Number(found !== undefined && found.state !== 'healed');
      sums.flaky += Number((found?.commits ?? 0) > 1);
      if (!found || project.repeats === 'restart') continue;
      sums.rated += 1;
      sums.within += Number(found.low <= rate && rate <= found.high);
    }
    if (project.repeats !== 'runner')
      for (const file of pairs) {
        if (pairRate(project) < 0.03 || project.pairs.some(([before]) => before === file)) continue;
        sums.planted += 1;
        sums.listed += Number(byFile.has(file));
        sums.open += Number(byFile.has(file));
      }
    const wrong = [...byFile.keys()].filter(file => !project.rates.has(file) && !pairs.includes(file));
    sums.false += wrong.length;
    sums.worst = Math.max(sums.worst, wrong.length);
    sums.ofOutage += wrong.filter(file => project.outageFiles.has(file)).length;
    sums.outages += project.outages;
    sums.seen += outages;
  }
  expect(sums.planted).toBeGreaterThan(1000);
  expect(sums.outages).toBeGreaterThan(1000);
  // All of them, and those that a lucky row of builds has not healed.
  expect(sums.listed / sums.planted).toBeGreaterThan(0.99);
  expect(sums.open / sums.planted).toBeGreaterThan(0.94);
  expect(sums.flaky / sums.planted).toBeGreaterThan(0.8);
  expect([sums.worst <= 1, sums.ofOutage]).toEqual([true, 0]);
  expect(sums.within / sums.rated).toBeGreaterThan(0.9);
});
