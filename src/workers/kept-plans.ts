import { LRUCache } from 'lru-cache';
import type { QueueKey, SplitKey } from '../engine/keys.js';
import type { KeptPlan, KeptPlans, NewPlan } from '../engine/plans.js';
import type { Timings } from '../engine/ports/timings.js';
import type { TestFileList } from '../engine/test-file-list.js';
import { memoryBounds } from '../memory-bounds.js';

/**
 * The plans of large suites that were made last. A plan depends on the list, the times of the project, the branch and the number of nodes
 * only, so the same request for another commit gets the same plan until a run is recorded. It is made of blocks of bytes, which nobody changes.
 */
export class PlanCache implements KeptPlans {
  readonly #plans = new LRUCache<string, { version: string; plan: NewPlan[keyof NewPlan] }>({
    maxSize: memoryBounds.keptPlans,
    sizeCalculation: ({ plan }) => plan.files.bytes.length + plan.basis.length + ('weights' in plan ? plan.weights.byteLength : 0),
  });
  #hits = 0;

  constructor(readonly timings: Pick<Timings, 'version'>) {}

  async find<Kind extends keyof NewPlan>(kind: Kind, key: SplitKey | QueueKey, list: TestFileList): Promise<KeptPlan<Kind> | null> {
    const kept = this.#plans.get(nameOf(kind, key, list));
    if (!kept || kept.version !== (await this.timings.version(key.project))) return null;
    this.#hits += 1;
    return kept.plan as NewPlan[Kind];
  }

  /** @param version that of the times before the plan was made */
  keep<Kind extends keyof NewPlan>(kind: Kind, key: SplitKey | QueueKey, plan: NewPlan[Kind], version: string): void {
    this.#plans.set(nameOf(kind, key, plan.list), { version, plan });
  }

  /** The number of plans, their bytes, and how many were used again. */
  get load(): { plans: number; bytes: number; hits: number } {
    return { plans: this.#plans.size, bytes: this.#plans.calculatedSize, hits: this.#hits };
  }
}

function nameOf(kind: string, { project, build }: SplitKey | QueueKey, { digest }: TestFileList): string {
  return `${kind} ${project} ${digest} ${build.node_total} ${build.branch}`;
}
