import type { ComponentType } from 'preact';
import type { ProjectLine } from '../../api/messages/dashboard.js';
import type { MinutesAnswer } from '../../api/messages/insight/minutes.js';
import type { OtherPage, ProjectPage } from './routes.js';

/** What a page of a project is given. It is made anew when the project or the id changes, and kept when the query does. */
export interface ProjectPageProps {
  project: ProjectLine;
  /** Of the build page, the build; else empty. */
  id: string;
}

/** What a view of the build page is given. */
export interface BuildViewProps {
  project: ProjectLine;
  /** As in the address: the build, or one of its CI runs. */
  id: string;
  build: MinutesAnswer;
}

export interface PageProps {
  /** Of the page `docs`, the guide; else empty. */
  id: string;
}

type Load<Props> = () => Promise<{ default: ComponentType<Props> }>;

/** Each page is a chunk of its own, which the browser loads when the page is first shown. */
export const projectPages: Record<ProjectPage, Load<ProjectPageProps>> = {
  builds: () => import('../pages/builds.js'),
  build: () => import('../pages/build.js'),
  files: () => import('../pages/files.js'),
  file: () => import('../pages/file.js'),
  nodes: () => import('../pages/nodes.js'),
  'what-if': () => import('../pages/what-if.js'),
  'set-up': () => import('../pages/set-up.js'),
};

export const otherPages: Record<OtherPage, Load<PageProps>> = {
  projects: () => import('../pages/projects.js'),
  server: () => import('../pages/server.js'),
  access: () => import('../pages/access.js'),
  docs: () => import('../pages/docs.js'),
  'sign-in': () => import('../pages/sign-in.js'),
};
