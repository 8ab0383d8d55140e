import { createProject, createToken, hashOf, revokeToken, tokenId } from '../engine/access.js';
import type { Access, Project } from '../engine/ports/access.js';
import { counted, print, printRow, say } from '../terminal.js';
import { withExistingStore, withStore } from './data-folder/data-folder.js';

/** Commands on the data folder. A running server sees the change at its next request. */

export interface PrintOptions {
  json?: true;
}

/** Creates a project; prints its first token and nothing else. */
export function createProjectWithToken(dataDir: string, name: string, { json }: PrintOptions): Promise<void> {
  return withStore(dataDir, async ({ access }) => {
    const { token } = await createProject(access, name, Date.now());
    print(json ? JSON.stringify({ project: name, id: tokenId({ hash: hashOf(token) }), token }) : token);
  });
}

/** Prints one line per project: name, creation, tokens in force; or one JSON array. */
export function printProjects(dataDir: string, _: string, { json }: PrintOptions): Promise<void> {
  return withExistingStore(dataDir, async ({ access }) => {
    const inForce = new Map<number, number>();
    for (const { project, revoked_at } of await access.tokens()) {
      if (revoked_at === null) inForce.set(project, (inForce.get(project) ?? 0) + 1);
    }
    const projects = (await access.projects()).map(({ id, name, created_at, default_branch }) => ({
      name,
      created_at: iso(created_at),
      default_branch,
      tokens: inForce.get(id) ?? 0,
    }));
    if (json) return print(JSON.stringify(projects));
    for (const { name, created_at, tokens } of projects) printRow([name, created_at, counted(tokens, 'token')]);
  });
}

/** Creates another token (rotation without downtime); prints it and nothing else. */
export function createTokenOf(dataDir: string, name: string, { json }: PrintOptions): Promise<void> {
  return withExistingStore(dataDir, async ({ access }) => {
    const { id } = await existing(access, name);
    const token = await createToken(access, id, Date.now());
    print(json ? JSON.stringify({ project: name, id: tokenId({ hash: hashOf(token) }), token }) : token);
  });
}

/** Prints one line per token: id, creation, state; or one JSON array. The store does not keep tokens themselves. */
export function printTokens(dataDir: string, name: string, { json }: PrintOptions): Promise<void> {
  return withExistingStore(dataDir, async ({ access }) => {
    const { id: project } = await existing(access, name);
    const tokens = (await access.tokens())
      .filter(token => token.project === project)
      .map(({ hash, created_at, revoked_at }) => ({
        id: tokenId({ hash }),
        created_at: iso(created_at),
        revoked_at: revoked_at === null ? null : iso(revoked_at),
      }));
    if (json) return print(JSON.stringify(tokens));
    for (const { id, created_at, revoked_at } of tokens)
      printRow([id, created_at, revoked_at === null ? 'in force' : `revoked ${revoked_at}`]);
  });
}

export function revoke(dataDir: string, tokenOrId: string, { json }: PrintOptions): Promise<void> {
  return withExistingStore(dataDir, async ({ access }) => {
    const id = await revokeToken(access, tokenOrId, Date.now());
    if (json) print(JSON.stringify({ id }));
    else say(`revoked token ${id}`);
  });
}

async function existing(access: Access, name: string): Promise<Project> {
  const project = await access.project(name);
  if (!project) throw new Error(`there is no project "${name}"; "project list" shows all, "project create" makes one`);
  return project;
}

function iso(millis: number): string {
  return new Date(millis).toISOString();
}
