import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Access, Project } from '../../engine/ports/access.js';
import type { Millis } from '../../engine/ports/store.js';
import type { Tables } from './tables.js';

export function memoryAccess({ projects, tokens }: Tables): Access {
  const project = (name: string) => [...projects.values()].find(known => known.name === name) ?? null;
  const putToken = (id: number, hash: string, at: Millis) => tokens.set(hash, { project: id, hash, created_at: at, revoked_at: null });
  return {
    projects: () => [...projects.values()],
    project,
    projectById: id => projects.get(id) ?? null,
    async createProject(name, tokenHash, at) {
      if (project(name)) return null;
      const created: Project = { id: projects.size + 1, name, created_at: at, default_branch: null, is_default_branch_set: false };
      projects.set(created.id, created);
      putToken(created.id, tokenHash, at);
      await nextTurn();
      return created;
    },
    async setDefaultBranch(id, branch) {
      const owner = projects.get(id)!;
      projects.set(id, { ...owner, default_branch: branch ?? owner.default_branch, is_default_branch_set: branch !== null });
      await nextTurn();
    },
    tokens: () => [...tokens.values()].sort((a, b) => a.created_at - b.created_at),
    token: hash => tokens.get(hash) ?? null,
    async createToken(id, hash, at) {
      putToken(id, hash, at);
      await nextTurn();
    },
    async revokeToken(hash, at) {
      const token = tokens.get(hash);
      if (token?.revoked_at === null) tokens.set(hash, { ...token, revoked_at: at });
      await nextTurn();
    },
  };
}
