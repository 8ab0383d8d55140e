import { pluralize } from '../../base/plural.js';
import { print, printRow, printToStderr } from '../../base/terminal.js';
import { timestamp } from '../../base/time.js';
import { UsageError } from '../../base/usage-error.js';
import { limits } from '../../protocol/limits.js';
import {
  changeSettings,
  createProject,
  createToken,
  deleteProject,
  hashOf,
  renameProject,
  revokeToken,
  setDefaultBranch,
  tokenId,
} from '../../server/engine/access.js';
import { newestBuild } from '../../server/engine/builds.js';
import type { Access, Project } from '../../server/engine/ports/access.js';
import { isPublicSide, publicSideOf } from '../../server/engine/public-side/side.js';
import { SETTING_NAMES, settingTexts, withoutSecrets } from '../../server/engine/setting-texts.js';
import { postTest } from '../../server/process/webhook-request.js';
import type { StoreSource } from '../../server/store/source.js';
import { ask } from './terminal-input.js';
import { withExistingStore, withStore } from './with-store.js';

/** Commands for projects and tokens. A running server sees a change at its next request. */

export interface PrintOptions {
  json?: true;
}

/** Creates a project and prints its first token, and nothing else. */
export function createProjectWithToken(source: StoreSource, name: string, { json }: PrintOptions): Promise<void> {
  return withStore(source, async ({ access, now }) => {
    const { token } = await createProject(access, name, now());
    print(json ? JSON.stringify({ project: name, id: tokenId({ hash: hashOf(token) }), token }) : token);
  });
}

/** Prints one line for each project (name, creation, active tokens), or one JSON array. */
export function printProjects(source: StoreSource, _: string, { json }: PrintOptions): Promise<void> {
  return withExistingStore(source, async ({ access }) => {
    const activeTokens = new Map<number, number>();
    for (const { project, revoked_at } of await access.tokens()) {
      if (revoked_at === null) activeTokens.set(project, (activeTokens.get(project) ?? 0) + 1);
    }
    const projects = (await access.projects()).map(({ id, name, created_at, default_branch }) => ({
      name,
      created_at: timestamp(created_at),
      default_branch,
      tokens: activeTokens.get(id) ?? 0,
    }));
    if (json) return print(JSON.stringify(projects));
    for (const { name, created_at, tokens } of projects) printRow([name, created_at, pluralize(tokens, 'token')]);
  });
}

export function rename(source: StoreSource, name: string, newName: string, { json }: PrintOptions): Promise<void> {
  return withExistingStore(source, async ({ access }) => {
    await renameProject(access, await requireProject(access, name), newName);
    if (json) print(JSON.stringify({ project: newName }));
    else printToStderr(`renamed the project "${name}" to "${newName}"`);
  });
}

export interface DeleteOptions extends PrintOptions {
  confirm?: string;
}

/** Deletes a project whose name is given twice: in the command, and in a flag or at the terminal. */
export function deleteNamed(source: StoreSource, name: string, { confirm, json }: DeleteOptions): Promise<void> {
  return withExistingStore(source, async ({ access, builds, now }) => {
    const { id } = await requireProject(access, name);
    const tokens = (await access.tokens()).filter(({ project, revoked_at }) => project === id && revoked_at === null);
    const total = await builds.count(id, {});
    const loss = `the project "${name}", ${pluralize(total, 'build')}, all timings, and ${pluralize(tokens.length, 'token')} in force`;
    const typed = confirm ?? (await ask(`this deletes ${loss}; type the name of the project to delete it:`));
    if (typed === null) throw new UsageError([`nobody can be asked here: add --confirm "${name}" to delete ${loss}`]);
    if (typed !== name) throw new UsageError([`nothing was deleted: "${typed}" is not the name of the project "${name}"`]);
    await deleteProject(access, { id, name }, now());
    if (json) return print(JSON.stringify({ project: name }));
    printToStderr(
      `deleted the project "${name}": its tokens are refused from now on`,
      'the server deletes what the project recorded within half an hour, or after its next start',
    );
  });
}

export interface DefaultBranchOptions extends PrintOptions {
  set?: string;
  unset?: true;
}

/** Sets the default branch of a project, or lets recorded builds decide again, if a flag says so. Then prints it. */
export function defaultBranch(source: StoreSource, name: string, { set, unset, json }: DefaultBranchOptions): Promise<void> {
  if (set !== undefined && unset) throw new UsageError(['--set and --unset cannot be combined: leave one of them out']);
  if (set !== undefined && (set === '' || set.length > limits.textMaxCharacters))
    throw new UsageError([`--set needs the name of a branch, of 1 to ${limits.textMaxCharacters} characters`]);
  return withExistingStore(source, async ({ access, builds }) => {
    const { id } = await requireProject(access, name);
    if (set !== undefined || unset) await setDefaultBranch(access, { id, name }, set ?? null);
    const { default_branch, is_default_branch_set: is_set } = await requireProject(access, name);
    if (json) print(JSON.stringify({ default_branch, is_set }));
    else print(default_branch ?? '');
    if (set !== undefined && !(await newestBuild(builds, id, { branch: set })))
      printToStderr(`WARNING: the project has no build of the branch ${set}: until it has, times of any branch are used`);
  });
}

/** Changes settings of a project, given as NAME=VALUE, and prints all that are set, or one JSON object. An empty value unsets one. */
export function changeProjectSettings(source: StoreSource, name: string, assignments: string[], { json }: PrintOptions): Promise<void> {
  const changes = assignments.map(text => {
    const at = text.indexOf('=');
    if (at < 1) throw new UsageError([`"${text}" is not NAME=VALUE; the settings are ${SETTING_NAMES.join(', ')}`]);
    return [text.slice(0, at), text.slice(at + 1)] as const;
  });
  return withExistingStore(source, async ({ access }) => {
    const { id, settings } = await requireProject(access, name);
    const changed = changes.length === 0 ? settings : await changeSettings(access, id, Object.fromEntries(changes));
    if (json) return print(JSON.stringify(withoutSecrets(changed)));
    for (const [setting, text] of Object.entries(settingTexts(changed))) if (text !== '') print(`${setting}=${text}`);
  });
}

/** Sends a test to the webhook of a project, once, and says how it answered. Exit code 1: it did not take the test. */
export function testWebhook(source: StoreSource, name: string, { json }: PrintOptions): Promise<void> {
  return withExistingStore(source, async ({ access, now }) => {
    const { settings } = await requireProject(access, name);
    const { webhook_url } = settings;
    if (webhook_url === null)
      throw new Error(`project "${name}" has no webhook; set one: ballast project settings "${name}" webhook_url=https://...`);
    const problem = await postTest({ name, settings }, webhook_url, now());
    if (json) print(JSON.stringify({ problem }));
    else printToStderr(`the webhook of "${name}" ${problem ?? 'took a test'}`);
    if (problem !== null) process.exitCode = 1;
  });
}

export interface TokenOptions extends PrintOptions {
  /** The name of the token. */
  name?: string;
  /** A token that anyone may read. */
  public?: boolean;
}

/** Creates another token, for a rotation without downtime, and prints it, and nothing else. */
export function createProjectToken(
  source: StoreSource,
  project: string,
  { name, public: isPublic = false, json }: TokenOptions,
): Promise<void> {
  return withExistingStore(source, async ({ access, now }) => {
    const { id } = await requireProject(access, project);
    const token = await createToken(access, id, now(), { name: name ?? null, isPublic });
    const line = { project, id: tokenId({ hash: hashOf(token) }), name: name ?? null, is_public: isPublic || isPublicSide(id), token };
    print(json ? JSON.stringify(line) : token);
  });
}

/** Prints one line for each token (id, creation, last use, state, kind, name), or one JSON array. The tokens themselves are not stored. */
export function printTokens(source: StoreSource, name: string, { json }: PrintOptions): Promise<void> {
  return withExistingStore(source, async ({ access }) => {
    const { id } = await requireProject(access, name);
    const tokens = (await access.tokens())
      .filter(({ project }) => project === id || project === publicSideOf(id))
      .map(({ hash, project, name, created_at, used_at, revoked_at }) => ({
        id: tokenId({ hash }),
        name,
        is_public: isPublicSide(project),
        created_at: timestamp(created_at),
        used_at: used_at === null ? null : timestamp(used_at),
        revoked_at: revoked_at === null ? null : timestamp(revoked_at),
      }));
    if (json) return print(JSON.stringify(tokens));
    for (const { id, name, is_public, created_at, used_at, revoked_at } of tokens) {
      const use = used_at === null ? 'never used' : `used ${used_at}`;
      printRow([
        id,
        created_at,
        use,
        revoked_at === null ? 'in force' : `revoked ${revoked_at}`,
        is_public ? 'public' : 'secret',
        name ?? '',
      ]);
    }
  });
}

export function revoke(source: StoreSource, tokenOrId: string, { json }: PrintOptions): Promise<void> {
  return withExistingStore(source, async ({ access, now }) => {
    const id = await revokeToken(access, tokenOrId, now());
    if (json) print(JSON.stringify({ id }));
    else printToStderr(`revoked token ${id}`);
  });
}

/** The project with a name. Throws a sentence when there is none. */
export async function requireProject(access: Access, name: string): Promise<Project> {
  const project = await access.project(name);
  if (!project) throw new Error(`there is no project "${name}"; "project list" shows all, "project create" makes one`);
  return project;
}
