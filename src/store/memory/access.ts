import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Access, NewToken, Project } from '../../engine/ports/access.js';
import type { Millis } from '../../engine/ports/store.js';
import type { Tables } from './tables.js';

export function memoryAccess(tables: Tables): Access {
  const { projects, deletedProjects, tokens, links, sessions } = tables;
  const project = (name: string) => [...projects.values()].find(known => known.name === name) ?? null;
  const putToken = (id: number, token: NewToken, at: Millis) =>
    tokens.set(token.hash, { ...token, project: id, created_at: at, used_at: null, revoked_at: null });
  return {
    projects: () => [...projects.values()],
    project,
    projectById: id => projects.get(id) ?? null,
    async createProject(name, tokenHash, at) {
      if (project(name)) return null;
      tables.projectsCreated += 1;
      const created: Project = { id: tables.projectsCreated, name, created_at: at, default_branch: null, is_default_branch_set: false };
      projects.set(created.id, created);
      putToken(created.id, { hash: tokenHash, name: null }, at);
      await nextTurn();
      return created;
    },
    async renameProject(id, name) {
      const record = projects.get(id);
      if (!record || project(name)) return false;
      projects.set(id, { ...record, name });
      await nextTurn();
      return true;
    },
    async deleteProject(id, at) {
      if (projects.delete(id)) deletedProjects.set(id, at);
      for (const table of [tokens, links, sessions]) {
        for (const [key, { project }] of table) if (project === id) table.delete(key);
      }
      await nextTurn();
    },
    async setDefaultBranch(id, branch) {
      const owner = projects.get(id)!;
      projects.set(id, { ...owner, default_branch: branch ?? owner.default_branch, is_default_branch_set: branch !== null });
      await nextTurn();
    },
    tokens: () => [...tokens.values()].sort((a, b) => a.created_at - b.created_at),
    token: hash => tokens.get(hash) ?? null,
    async createToken(id, token, at) {
      if (!projects.has(id)) return false;
      putToken(id, token, at);
      await nextTurn();
      return true;
    },
    async useToken(hash, at) {
      const token = tokens.get(hash);
      if (token) tokens.set(hash, { ...token, used_at: at });
      await nextTurn();
    },
    async revokeToken(hash, at) {
      const token = tokens.get(hash);
      if (token?.revoked_at === null) tokens.set(hash, { ...token, revoked_at: at });
      await nextTurn();
    },
  };
}
