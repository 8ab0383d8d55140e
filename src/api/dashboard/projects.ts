import { setImmediate as nextTurn } from 'node:timers/promises';
import { medianWall } from '../../engine/insight/trends/days.js';
import { type Overview, overviewOf } from '../../engine/insight/trends/overview.js';
import { idleShare } from '../../engine/insight/trends/summary.js';
import type { Session } from '../../engine/ports/sign-ins.js';
import { projectsOf } from '../../engine/sign-in/sign-in.js';
import type { Answer, Request } from '../../http/request.js';
import type { Context } from '../context.js';
import { json, secondsOf } from '../json.js';
import type { ProjectOverview, ProjectsAnswer } from '../messages/dashboard.js';

/** GET /dashboard/projects: how the projects of the session fare. */
export async function answerProjects({ store, summarizer, now }: Context, { hasLeft }: Request, session: Session): Promise<Answer> {
  const projects: ProjectOverview[] = [];
  for (const { id, name, default_branch } of await projectsOf(store.access, session)) {
    if (hasLeft()) break;
    const overview = await overviewOf(store, id, now());
    for (const build of overview.outdated) summarizer.outdated(build);
    projects.push({ id, name, default_branch, ...overviewAnswer(overview) });
    // A project takes about a millisecond, and there may be hundreds.
    await nextTurn();
  }
  return json(200, { projects } satisfies ProjectsAnswer);
}

function overviewAnswer({
  today,
  incompleteToday,
  running,
  lastDay,
  month,
  recent,
}: Overview): Omit<ProjectOverview, 'id' | 'name' | 'default_branch'> {
  return {
    builds_today: today.builds,
    running,
    incomplete_today: incompleteToday,
    median_wall: lastDay && secondsOf(medianWall(lastDay)),
    idle_share: lastDay && idleShare(lastDay),
    saved_30_days: secondsOf(month.saved),
    builds_30_days: month.builds,
    recent: recent.map(({ build, summary: { wall, floor, missing, failed } }) => ({
      build_id: build.id,
      wall: secondsOf(wall),
      floor: secondsOf(floor),
      is_complete: missing === 0,
      has_failures: (failed ?? 0) > 0,
    })),
  };
}
