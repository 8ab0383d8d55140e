import type { ComponentType } from 'preact';
import { AccessPage } from '../pages/access/access.js';
import { BuildPage } from '../pages/build/build.js';
import { BuildsPage } from '../pages/builds/builds.js';
import { DocsPage } from '../pages/docs/docs.js';
import { FilePage } from '../pages/files/file.js';
import { FilesPage } from '../pages/files/files.js';
import { FlakyPage } from '../pages/flaky/flaky.js';
import { NodesPage } from '../pages/nodes/nodes.js';
import { ProjectsPage } from '../pages/projects/projects.js';
import { ServerPage } from '../pages/server/server.js';
import { SetUpPage } from '../pages/set-up/set-up.js';
import { SettingsPage } from '../pages/settings/settings.js';
import { SignInPage } from '../pages/sign-in/sign-in.js';
import { TrendsPage } from '../pages/trends/trends.js';
import { WhatIfPage } from '../pages/what-if/what-if.js';
import type { PageProps, ProjectPageProps } from '../routes/pages.js';
import type { OtherPage, ProjectPage } from '../routes/routes.js';

/** The component of each page. All pages are one script: a page is there as soon as its data is. */
export const projectPages: Record<ProjectPage, ComponentType<ProjectPageProps>> = {
  builds: BuildsPage,
  build: BuildPage,
  trends: TrendsPage,
  files: FilesPage,
  file: FilePage,
  flaky: FlakyPage,
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
