import { limits } from '../limits.js';
import { shortDigest } from './digest.js';
import type { QueueKey, SplitKey } from './keys.js';
import type { CiRun } from './ports/ci-runs.js';

/** A CI run that begins: its queue was created, or it first uses a split. */
export function beginningCiRun(
  { project, build, ci_run }: QueueKey | SplitKey,
  begun: Pick<CiRun, 'id' | 'kind' | 'plan' | 'created_at' | 'runs_before'>,
): CiRun {
  return { ...begun, ...build, project, ci_run: ci_run.slice(0, limits.ciRunCharacters), digest: shortDigest(ci_run) };
}
