import type { ComponentType } from 'preact';
import { AccessPage } from '../pages/access.js';
import { BuildPage } from '../pages/build.js';
import { BuildsPage } from '../pages/builds.js';
import { DocsPage } from '../pages/docs.js';
import { FilePage } from '../pages/file.js';
import { FilesPage } from '../pages/files.js';
import { NodesPage } from '../pages/nodes.js';
import { ProjectsPage } from '../pages/projects.js';
import { ServerPage } from '../pages/server.js';
import { SetUpPage } from '../pages/set-up.js';
import { SettingsPage } from '../pages/settings.js';
import { SignInPage } from '../pages/sign-in.js';
import { TrendsPage } from '../pages/trends.js';
import { WhatIfPage } from '../pages/what-if.js';
import type { PageProps, ProjectPageProps } from '../routes/pages.js';
import type { OtherPage, ProjectPage } from '../routes/routes.js';

/** What each page shows. All pages are one script: a page is there as soon as its data is. */
export const projectPages: Record<ProjectPage, ComponentType<ProjectPageProps>> = {
  builds: BuildsPage,
  build: BuildPage,
  trends: TrendsPage,
  files: FilesPage,
  file: FilePage,
  nodes: NodesPage,
  'what-if': WhatIfPage,
  'set-up': SetUpPage,
  settings: SettingsPage,
};

export const otherPages: Record<OtherPage, ComponentType<PageProps>> = {
  projects: ProjectsPage,
  server: ServerPage,
  access: AccessPage,
  docs: DocsPage,
  'sign-in': SignInPage,
};
