import { setImmediate as nextTurn } from 'node:timers/promises';
import { overviewOf } from '../../engine/insight/trends/overview.js';
import type { ProjectOverview, ProjectsAnswer } from '../../engine/insight/trends/trends-answer.js';
import type { Session } from '../../engine/ports/sign-ins.js';
import { projectsOf } from '../../engine/sign-in/sign-in.js';
import type { Answer, Request } from '../../http/request.js';
import type { Context } from '../context.js';
import { json } from '../json.js';

/** GET /dashboard/projects: how the projects of the session fare. */
export async function answerProjects({ store, summarizer, now }: Context, { hasLeft }: Request, session: Session): Promise<Answer> {
  const projects: ProjectOverview[] = [];
  for (const project of await projectsOf(store.access, session)) {
    if (hasLeft()) break;
    const { answer, outdated } = await overviewOf(store, project, now());
    for (const build of outdated) summarizer.outdated(build);
    projects.push(answer);
    // A project takes about a millisecond, and there may be hundreds.
    await nextTurn();
  }
  return json(200, { projects } satisfies ProjectsAnswer);
}
