import { isDeepStrictEqual } from 'node:util';
import type { Database } from 'lmdb';
import { noSettings } from '../../../protocol/project-settings.js';
import type { Access, NewToken, Project, Token } from '../../engine/ports/access.js';
import type { Millis } from '../../engine/ports/store.js';
import { publicSideName, publicSideOf } from '../../engine/public-side/side.js';
import { DecodedRecords } from './decoded-records.js';
import type { ProjectRecord } from './records.js';
import type { Tables } from './tables.js';
import { type Committing, commit } from './writes/commit.js';

const KEY_CHARACTERS = 32;

/** The fields of a project before its first build. */
export const newProject = { default_branch: null, is_default_branch_set: false, settings: {} };

/** The key of a token, a link or a session. */
export const keyOf = (hash: string) => hash.slice(0, KEY_CHARACTERS);

export const byCreation = (a: { created_at: Millis }, b: { created_at: Millis }) => a.created_at - b.created_at;

type AccessTables = Pick<Tables, 'meta' | 'projects' | 'projectNames' | 'tokens' | 'links' | 'sessions'>;

export function lmdbAccess(parts: AccessTables & Committing) {
  const { meta, projects, projectNames, tokens, links, sessions } = parts;
  const records = new DecodedRecords(parts.root, tokens);
  const recordOf = (project: number): ProjectRecord | null => {
    const record = projects.get(project);
    return record && record.deleted_at === undefined ? record : null;
  };
  const putToken = (project: number, { hash, name }: NewToken, at: Millis) =>
    void tokens.put(keyOf(hash), { project, hash, name, created_at: at, used_at: null, revoked_at: null });
  const rename = (project: number, record: ProjectRecord, name: string) => {
    void projectNames.remove(record.name);
    void projectNames.put(name, project);
    void projects.put(project, { ...record, name });
  };
  const tokenOf = (hash: string): Token | null => records.get(keyOf(hash)) ?? null;
  const changeToken = (hash: string, changed: (token: Token) => Partial<Token>) =>
    commit(parts, () => {
      const record = tokens.get(keyOf(hash));
      if (record?.hash === hash) void tokens.put(keyOf(hash), { ...record, ...changed(record) });
    });
  return {
    projects: () => [...projects.getRange()].flatMap(({ key, value }) => (value.deleted_at === undefined ? toProject(key, value) : [])),
    project(nameOrId) {
      const id = typeof nameOrId === 'string' ? projectNames.get(nameOrId) : nameOrId;
      const record = id === undefined ? null : recordOf(id);
      return record && toProject(id!, record);
    },
    createProject: (name, tokenHash, at) =>
      commit(parts, () => {
        if (projectNames.get(name) !== undefined) return null;
        const id = meta.get('nextProject') ?? 1;
        const record: ProjectRecord = { name, created_at: at, ...newProject, has_test_cases: false };
        void meta.put('nextProject', id + 1);
        void projects.put(id, record);
        void projectNames.put(name, id);
        putToken(id, { hash: tokenHash, name: null }, at);
        return toProject(id, record);
      }),
    renameProject: (project, name) =>
      commit(parts, () => {
        const record = recordOf(project);
        if (!record || projectNames.get(name) !== undefined) return false;
        rename(project, record, name);
        const side = publicSideOf(project);
        const sideRecord = recordOf(side);
        if (sideRecord) rename(side, sideRecord, publicSideName(name));
        return true;
      }),
    deleteProject: (project, at) =>
      commit(parts, () => {
        for (const id of [project, publicSideOf(project)]) {
          const record = recordOf(id);
          if (!record) continue;
          void projectNames.remove(record.name);
          void projects.put(id, { ...record, deleted_at: at });
          for (const table of [tokens, links, sessions] as Database<{ project: number | null }, string>[]) {
            for (const { key, value } of [...table.getRange()]) if (value.project === id) void table.remove(key);
          }
        }
      }),
    setDefaultBranch: (project, branch) =>
      commit(parts, () => {
        const record = projects.get(project);
        const set = { default_branch: branch ?? record?.default_branch ?? null, is_default_branch_set: branch !== null };
        if (record) void projects.put(project, { ...record, ...set });
      }),
    replaceSettings: (project, from, to) =>
      commit(parts, () => {
        const record = recordOf(project);
        if (!record || !isDeepStrictEqual(toProject(project, record).settings, from)) return false;
        void projects.put(project, { ...record, settings: to });
        return true;
      }),
    tokens: () => Array.from(tokens.getRange(), ({ value }) => value).sort(byCreation),
    token: tokenOf,
    knownToken: tokenOf,
    createToken: (project, token, at) =>
      commit(parts, () => {
        if (!recordOf(project)) return false;
        putToken(project, token, at);
        return true;
      }),
    createPublicToken: (project, token, at) =>
      commit(parts, () => {
        const owner = recordOf(project);
        if (!owner) return false;
        const side = publicSideOf(project);
        if (!recordOf(side)) {
          const name = publicSideName(owner.name);
          void projects.put(side, { name, created_at: at, ...newProject, has_test_cases: false });
          void projectNames.put(name, side);
        }
        putToken(side, token, at);
        return true;
      }),
    useToken: (hash, at) => changeToken(hash, () => ({ used_at: at })),
    revokeToken: (hash, at) => changeToken(hash, ({ revoked_at }) => ({ revoked_at: revoked_at ?? at })),
  } satisfies Access;
}

function toProject(id: number, { name, created_at, default_branch, is_default_branch_set, settings }: ProjectRecord): Project {
  return { id, name, created_at, default_branch, is_default_branch_set, settings: { ...noSettings, ...settings } };
}
