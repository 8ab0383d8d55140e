import type { Access, Project } from '../../engine/ports/access.js';
import type { Millis } from '../../engine/ports/store.js';
import { DecodedRecords } from './decoded-records.js';
import type { ProjectRecord } from './records.js';
import type { Tables } from './tables.js';
import { type Committing, commit } from './writes/commit.js';

const KEY_CHARACTERS = 32;

/** The key of a token in `tokens`. */
const keyOf = (hash: string) => hash.slice(0, KEY_CHARACTERS);

export function lmdbAccess(parts: Pick<Tables, 'meta' | 'projects' | 'projectNames' | 'tokens'> & Committing) {
  const { meta, projects, projectNames, tokens } = parts;
  const records = new DecodedRecords(parts.root, tokens);
  const putToken = (project: number, hash: string, at: Millis) =>
    void tokens.put(keyOf(hash), { v: 1, project, hash, created_at: at, revoked_at: null });
  return {
    projects: () => [...projects.getRange()].map(({ key, value }) => toProject(key, value)),
    project(name) {
      const id = projectNames.get(name);
      return id === undefined ? null : toProject(id, projects.get(id)!);
    },
    projectById(id) {
      const record = projects.get(id);
      return record ? toProject(id, record) : null;
    },
    createProject: (name, tokenHash, at) =>
      commit(parts, () => {
        if (projectNames.get(name) !== undefined) return null;
        const id = meta.get('nextProject') ?? 1;
        const record: ProjectRecord = { v: 1, name, created_at: at, default_branch: null, has_test_cases: false };
        void meta.put('nextProject', id + 1);
        void projects.put(id, record);
        void projectNames.put(name, id);
        putToken(id, tokenHash, at);
        return toProject(id, record);
      }),
    setDefaultBranch: (project, branch) =>
      commit(parts, () => {
        const record = projects.get(project);
        const set = { default_branch: branch ?? record?.default_branch ?? null, is_default_branch_set: branch !== null };
        if (record) void projects.put(project, { ...record, ...set });
      }),
    tokens: () => [...tokens.getRange()].map(({ value: { v: _, ...token } }) => token).sort((a, b) => a.created_at - b.created_at),
    token: hash => records.get(keyOf(hash)) ?? null,
    createToken: (project, hash, at) => commit(parts, () => putToken(project, hash, at)),
    revokeToken: (hash, at) =>
      commit(parts, () => {
        const record = tokens.get(keyOf(hash));
        if (record?.hash === hash && record.revoked_at === null) void tokens.put(keyOf(hash), { ...record, revoked_at: at });
      }),
  } satisfies Access;
}

function toProject(id: number, { name, created_at, default_branch, is_default_branch_set = false }: ProjectRecord): Project {
  return { id, name, created_at, default_branch, is_default_branch_set };
}
