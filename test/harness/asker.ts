import type { Asker } from '../../src/server/api/job-runner.js';

/** A CI job of a project that waits for its answer. */
export const jobOf = (project: number, hasLeft = () => false): Asker => ({ project, isPage: false, hasLeft });

/** A page that shows a project. */
export const pageOf = (project: number): Asker => ({ project, isPage: true, hasLeft: () => false });
