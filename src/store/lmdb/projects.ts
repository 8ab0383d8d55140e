import { commit } from './commit.js';
import type { Parts } from './open.js';
import type { Millis, ProjectRecord } from './records.js';
import { newToken, putToken } from './tokens.js';

export interface Project extends ProjectRecord {
  id: number;
}

const NAME = /^[\p{L}\p{N}][\p{L}\p{N} ._/-]{0,199}$/u;

/** Makes a project with its first token. Throws when the name cannot be one or is taken. */
export async function createProject(store: Parts, name: string, now: Millis, token = newToken()): Promise<Project & { token: string }> {
  if (!NAME.test(name)) {
    throw new Error(
      `cannot create the project "${name}": a name has 1 to 200 letters, digits, spaces and . _ / -, and starts with a letter or digit`,
    );
  }
  const project = await commit(store, () => {
    if (store.projectNames.get(name) !== undefined) return null;
    const id = store.meta.get('nextProject') ?? 1;
    const record: ProjectRecord = { v: 1, name, created_at: now, default_branch: null, has_test_cases: false };
    void store.meta.put('nextProject', id + 1);
    void store.projects.put(id, record);
    void store.projectNames.put(name, id);
    putToken(store, id, now, token);
    return { ...record, id, token };
  });
  if (!project) {
    throw new Error(`cannot create the project "${name}": it exists already; a further token for it is made with "token create"`);
  }
  return project;
}

export function findProject(store: Parts, name: string): Project | null {
  const id = store.projectNames.get(name);
  if (id === undefined) return null;
  return { ...store.projects.get(id)!, id };
}

export function listProjects(store: Parts): Project[] {
  return [...store.projects.getRange()].map(({ key, value }) => ({ ...value, id: key }));
}
