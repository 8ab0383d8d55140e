import type { Store } from '../store/open.js';
import { createProject, findProject, listProjects, type Project } from '../store/projects.js';
import { createToken, listTokens, revokeToken } from '../store/tokens.js';
import { withExistingStore, withStore } from './data-folder.js';

/** Commands on the data folder. They work beside a running server, which sees the change at its next request. */

/** Makes a project; prints its first token and nothing else. */
export function createProjectWithToken(dataDir: string, name: string): Promise<void> {
  return withStore(dataDir, async store => {
    print((await createProject(store, name, Date.now())).token);
  });
}

/** A line a project: name, creation, tokens in force. */
export function printProjects(dataDir: string): Promise<void> {
  return withExistingStore(dataDir, store => {
    const inForce = new Map<number, number>();
    for (const { project, revoked_at } of listTokens(store)) {
      if (revoked_at === null) inForce.set(project, (inForce.get(project) ?? 0) + 1);
    }
    for (const { id, name, created_at } of listProjects(store)) {
      print(`${name}\t${new Date(created_at).toISOString()}\t${inForce.get(id) ?? 0} tokens`);
    }
  });
}

/** Makes a further token (rotation without downtime); prints it and nothing else. */
export function createTokenOf(dataDir: string, name: string): Promise<void> {
  return withExistingStore(dataDir, async store => {
    print(await createToken(store, existing(store, name).id, Date.now()));
  });
}

/** A line a token: id, creation, state. Tokens themselves are not kept. */
export function printTokens(dataDir: string, name: string): Promise<void> {
  return withExistingStore(dataDir, store => {
    const { id: project } = existing(store, name);
    for (const { id, created_at, revoked_at } of listTokens(store).filter(token => token.project === project)) {
      const state = revoked_at === null ? 'in force' : `revoked ${new Date(revoked_at).toISOString()}`;
      print(`${id}\t${new Date(created_at).toISOString()}\t${state}`);
    }
  });
}

export function revoke(dataDir: string, tokenOrId: string): Promise<void> {
  return withExistingStore(dataDir, async store => {
    const { id } = await revokeToken(store, tokenOrId, Date.now());
    process.stderr.write(`revoked token ${id}\n`);
  });
}

function existing(store: Store, name: string): Project {
  const project = findProject(store, name);
  if (!project) throw new Error(`there is no project "${name}"; "project list" shows all, "project create" makes one`);
  return project;
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
