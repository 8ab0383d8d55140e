import type { Store } from '../store/lmdb/open.js';
import { createProject, findProject, listProjects, type Project } from '../store/lmdb/projects.js';
import { createToken, idOfToken, listTokens, revokeToken } from '../store/lmdb/tokens.js';
import { pluralize, print, printRow, printToStderr } from '../terminal.js';
import { withExistingStore, withStore } from './data-folder/data-folder.js';

/** Commands for projects and tokens. A running server sees a change at its next request. */

export interface PrintOptions {
  json?: true;
}

/** Creates a project and prints its first token, and nothing else. */
export function createProjectWithToken(dataDir: string, name: string, { json }: PrintOptions): Promise<void> {
  return withStore(dataDir, async store => {
    const { token } = await createProject(store, name, Date.now());
    print(json ? JSON.stringify({ project: name, id: idOfToken(token), token }) : token);
  });
}

/** Prints one line for each project (name, creation, active tokens), or one JSON array. */
export function printProjects(dataDir: string, _: string, { json }: PrintOptions): Promise<void> {
  return withExistingStore(dataDir, store => {
    const activeTokens = new Map<number, number>();
    for (const { project, revoked_at } of listTokens(store)) {
      if (revoked_at === null) activeTokens.set(project, (activeTokens.get(project) ?? 0) + 1);
    }
    const projects = listProjects(store).map(({ id, name, created_at, default_branch }) => ({
      name,
      created_at: toIso(created_at),
      default_branch,
      tokens: activeTokens.get(id) ?? 0,
    }));
    if (json) return print(JSON.stringify(projects));
    for (const { name, created_at, tokens } of projects) printRow([name, created_at, pluralize(tokens, 'token')]);
  });
}

/** Creates another token, for a rotation without downtime, and prints it, and nothing else. */
export function createProjectToken(dataDir: string, name: string, { json }: PrintOptions): Promise<void> {
  return withExistingStore(dataDir, async store => {
    const token = await createToken(store, requireProject(store, name).id, Date.now());
    print(json ? JSON.stringify({ project: name, id: idOfToken(token), token }) : token);
  });
}

/** Prints one line for each token (id, creation, state), or one JSON array. The tokens themselves are not stored. */
export function printTokens(dataDir: string, name: string, { json }: PrintOptions): Promise<void> {
  return withExistingStore(dataDir, store => {
    const { id: project } = requireProject(store, name);
    const tokens = listTokens(store)
      .filter(token => token.project === project)
      .map(({ id, created_at, revoked_at }) => ({
        id,
        created_at: toIso(created_at),
        revoked_at: revoked_at === null ? null : toIso(revoked_at),
      }));
    if (json) return print(JSON.stringify(tokens));
    for (const { id, created_at, revoked_at } of tokens)
      printRow([id, created_at, revoked_at === null ? 'in force' : `revoked ${revoked_at}`]);
  });
}

export function revoke(dataDir: string, tokenOrId: string, { json }: PrintOptions): Promise<void> {
  return withExistingStore(dataDir, async store => {
    const { id } = await revokeToken(store, tokenOrId, Date.now());
    if (json) print(JSON.stringify({ id }));
    else printToStderr(`revoked token ${id}`);
  });
}

function requireProject(store: Store, name: string): Project {
  const project = findProject(store, name);
  if (!project) throw new Error(`there is no project "${name}"; "project list" shows all, "project create" makes one`);
  return project;
}

function toIso(millis: number): string {
  return new Date(millis).toISOString();
}
