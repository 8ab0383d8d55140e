import { limits } from '../../protocol/limits.js';
import type { AskingCiRun } from '../engine/proof/spared.js';
import type { Context } from './context.js';

/**
 * Notes what the proof of a CI run saves another one. A failure is only logged: the answer is right without the note.
 *
 * @param by the id of the one that proves
 */
export async function noteSpared(
  { store, dailyBytes, log, now }: Pick<Context, 'store' | 'dailyBytes' | 'log' | 'now'>,
  project: number,
  by: string,
  { commit_hash, branch, ci_run, seconds }: AskingCiRun & { seconds: number },
): Promise<void> {
  const spared = { commit_hash, branch, ci_run: ci_run.slice(0, limits.ciRunCharacters), asked_at: now(), seconds };
  try {
    const proving = await store.ciRuns.get(project, by);
    if (proving && (await store.ciRuns.noteSpared(proving, spared))) dailyBytes.add(project, JSON.stringify(spared).length, now());
  } catch (err) {
    log.warn({ err }, 'could not note a CI run that need not run its tests');
  }
}
