import type { Role } from '../../../protocol/messages/dashboard.js';
import type { Access, Project } from '../ports/access.js';
import type { Link, Session } from '../ports/sign-ins.js';

/** Role of the person who signs in with a link, or has signed in with a session. */
export function roleOf({ project }: Pick<Session | Link, 'project'>): Role {
  return project === null ? 'operator' : 'reader';
}

/** Reports whether a session shows the data of a project. */
export function mayRead(session: Session, project: number): boolean {
  return roleOf(session) === 'operator' || session.project === project;
}

/** The projects that a session shows, oldest first. */
export async function projectsOf(access: Access, { project }: Session): Promise<Project[]> {
  if (project === null) return access.projects();
  const shown = await access.project(project);
  return shown ? [shown] : [];
}
