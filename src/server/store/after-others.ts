import type { Soon } from '../../base/soon.js';

/**
 * Does work of a project after what it has done before of this kind, whatever became of that. Resolves or rejects as the work.
 *
 * @param last the work of each project that comes last
 */
export async function afterOthers<T>(last: Map<number, Promise<unknown>>, project: number, work: () => Soon<T>): Promise<T> {
  const working = (last.get(project) ?? Promise.resolve()).then(work, work);
  last.set(project, working);
  try {
    return await working;
  } finally {
    if (last.get(project) === working) last.delete(project);
  }
}
