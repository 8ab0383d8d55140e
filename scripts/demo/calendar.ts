import { type Random, seededRandom } from '../../test/testbed/random.js';
import { type CiRun, drawCiRun, type Incident, isRed } from './ci-run.js';
import { Commits, type Push } from './commits.js';
import type { Project } from './projects.js';
import { drawSuite, type SuiteFile } from './suite.js';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** No CI run began in these hours: the CI system was down. */
const OUTAGE = { daysAgo: 9, from: 9.5, hours: 5.5 };
const NIGHTLY_HOUR = 2.5;
const WEEKEND = 0.12;
const REPEATED = 0.5;
/** Time that people take to see that a CI run failed, in minutes. */
const REPEATED_AFTER = 25;

/** Incidents some days ago, of the first CI run after that moment. */
const INCIDENTS: Record<string, { daysAgo: number; incident: Incident }[]> = {
  'web-rspec': [
    { daysAgo: 8.2, incident: 'broken node' },
    { daysAgo: 1.1, incident: 'dying node' },
    { daysAgo: 0.4, incident: 'late node' },
  ],
  'e2e-playwright': [{ daysAgo: 2.2, incident: 'dead node' }],
};

/** When the last CI run before now began: it is still running, in minutes before now. */
const RUNNING: Record<string, number> = { 'web-rspec': 4, 'api-jest': 1.5, 'e2e-playwright': 9 };

/** The CI runs of a project: those before now, and each one after it. */
export class Calendar {
  readonly #random: Random;
  readonly #suite: SuiteFile[];
  readonly #commits: Commits;
  #runs = 0;

  constructor(
    readonly project: Project,
    readonly seed: number,
    readonly now: number,
    readonly days: number,
  ) {
    this.#random = seededRandom(seed);
    this.#commits = new Commits(this.#random);
    this.#suite = drawSuite(this.#random, project.folders, days);
    for (const story of project.stories) this.#tell(story);
  }

  /** The CI runs before now, oldest first. */
  *past(): Generator<CiRun> {
    const incidents = [...(INCIDENTS[this.project.name] ?? [])];
    const starts = this.#starts();
    const repeats: { at: number; push: Push; run: CiRun }[] = [];
    for (const { at, isNightly } of starts) {
      while (repeats[0] && repeats[0].at <= at) {
        const { push, run, at } = repeats.shift()!;
        yield this.#draw(push, at, null, run);
      }
      const push = isNightly ? this.#commits.nightly() : this.#commits.next();
      const due = at > this.now - 15 * MINUTE ? -1 : incidents.findIndex(({ daysAgo }) => at >= this.now - daysAgo * DAY);
      const incident = due === -1 ? null : incidents.splice(due, 1)[0]!.incident;
      const run = this.#draw(push, at, incident, null);
      yield run;
      if (isRed(run) && this.#random() < REPEATED) repeats.push({ at: at + (1 + this.#random()) * REPEATED_AFTER * MINUTE, push, run });
    }
  }

  /** The next CI run, which begins now. */
  next(at: number): CiRun {
    return this.#draw(this.#commits.next(), at, null, null);
  }

  #draw(push: Push, at: number, incident: Incident | null, before: CiRun | null): CiRun {
    const number = ++this.#runs;
    const random = seededRandom(this.seed + 7919 * number);
    const id = String(11_300_000_000 + 1_000_000 * this.project.nodes + 137 * number);
    const { project, now, days } = this;
    return drawCiRun(random, { project, suite: this.#suite, push, id, at: Math.round(at), now, days, incident, before });
  }

  #starts(): { at: number; isNightly: boolean }[] {
    const today = Math.floor(this.now / DAY) * DAY;
    const starts: { at: number; isNightly: boolean }[] = [];
    const last = this.now - RUNNING[this.project.name]! * MINUTE;
    for (let day = today - this.days * DAY; day <= today; day += DAY) {
      const weekday = new Date(day).getUTCDay();
      const isWeekend = weekday === 0 || weekday === 6;
      const builds = this.project.buildsPerDay * (isWeekend ? WEEKEND : 0.75 + 0.5 * this.#random());
      if (!isWeekend) starts.push({ at: day + NIGHTLY_HOUR * HOUR, isNightly: true });
      for (let i = 0; i < builds; i++) starts.push({ at: day + this.#hour() * HOUR, isNightly: false });
    }
    const begun = starts.filter(({ at }) => at < last - 30 * MINUTE && !isOutage(at, today)).sort((a, b) => a.at - b.at);
    return [...begun, { at: last, isNightly: false }];
  }

  /** An hour of a working day, most often before and after noon. */
  #hour(): number {
    const isMorning = this.#random() < 0.45;
    return (isMorning ? 9.5 : 14) + 2.5 * (this.#random() + this.#random() - 0.5);
  }

  /** Replaces a file of the same folder. */
  #tell(story: Project['stories'][number]): void {
    const folder = story.path.slice(0, story.path.lastIndexOf('/') + 1);
    const told = new Set(this.project.stories.map(({ path }) => path));
    const file =
      this.#suite.find(({ path }) => path === story.path) ??
      this.#suite.find(({ path, deletedDaysAgo }) => path.startsWith(folder) && !told.has(path) && deletedDaysAgo < 0)!;
    Object.assign(file, { noise: 0.08, flakiness: 0, addedDaysAgo: Infinity, deletedDaysAgo: -1, changes: [], cases: [], ...story });
    this.#suite.sort((a, b) => (a.path < b.path ? -1 : 1));
  }
}

function isOutage(at: number, today: number): boolean {
  const from = today - OUTAGE.daysAgo * DAY + OUTAGE.from * HOUR;
  return at >= from && at < from + OUTAGE.hours * HOUR;
}
