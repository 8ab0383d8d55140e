import { DAY_MILLISECONDS } from '../../base/time.js';
import type { Millis } from './ports/store.js';
import { Refusal } from './refusal.js';

/** Counts the bytes that each project has the server store in a day, by UTC. They are kept in memory: a start begins to count again. */
export class DailyBytes {
  readonly #byProject = new Map<number, number>();
  #day = -Infinity;

  /** @param most bytes of a project in a day; 0: any number */
  constructor(readonly most: number) {}

  /** Number of projects that have stored as much as they may today. */
  get fullProjects(): number {
    return this.most === 0 ? 0 : [...this.#byProject.values()].filter(bytes => bytes >= this.most).length;
  }

  /** Throws a 507 when the project may store nothing more today. */
  assertRoom(project: number, at: Millis): void {
    if (this.most === 0 || (this.#today(at).get(project) ?? 0) < this.most) return;
    throw new Refusal(
      `this project has stored ${this.most} bytes today, as much as the server's setting BALLAST_DAILY_BYTES_PER_PROJECT allows; raise it, or wait until 00:00 UTC`,
      'daily bytes',
    );
  }

  add(project: number, bytes: number, at: Millis): void {
    const today = this.#today(at);
    today.set(project, (today.get(project) ?? 0) + bytes);
  }

  #today(at: Millis): Map<number, number> {
    const day = Math.floor(at / DAY_MILLISECONDS);
    if (day !== this.#day) this.#byProject.clear();
    this.#day = day;
    return this.#byProject;
  }
}
