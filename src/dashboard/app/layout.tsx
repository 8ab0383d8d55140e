import type { ComponentChildren } from 'preact';
import type { ProjectLine } from '../../protocol/messages/dashboard.js';
import { useSession } from '../data/session.js';
import { navigate } from '../routes/router.js';
import { type ProjectPage, projectPath, type Route } from '../routes/routes.js';
import { Footer } from './footer.js';
import { Header } from './header.js';
import { useOnline } from './online.js';

/** The header, with the project and the way to every page, and below it the page. */
export function Layout({ route, project, children }: { route: Route; project: ProjectLine | null; children: ComponentChildren }) {
  const { role } = useSession();
  const isOnline = useOnline();
  return (
    <>
      <a class="skip" href="#content">
        Skip to the content
      </a>
      <Header isHome={route.page === 'projects'}>
        <ProjectSwitch route={route} project={project} />
        {project && <ProjectNavigation route={route} project={project} />}
        <nav class="apart" aria-label="Ballast">
          {role === 'operator' && <NavigationLink href="/server" name="Server" isCurrent={route.page === 'server'} />}
          {role === 'operator' && <NavigationLink href="/access" name="Access" isCurrent={route.page === 'access'} />}
          <NavigationLink href="/docs" name="Docs" isCurrent={route.page === 'docs'} />
        </nav>
      </Header>
      {!isOnline && (
        <p class="notice" role="status">
          You are offline. The page shows what it loaded last, and updates itself when you are online again.
        </p>
      )}
      <main id="content" tabIndex={-1}>
        {project && <PublicSide route={route} project={project} />}
        {children}
      </main>
      <Footer />
    </>
  );
}

/** Says on each page of a public side what it is, and on the builds of its project that there is one. */
function PublicSide({ route, project: { name, public_side_of } }: { route: Route; project: ProjectLine }) {
  const { projects } = useSession();
  const side = projects.find(other => other.public_side_of === name);
  if (public_side_of !== null)
    return (
      <p class="notice">
        Anyone who reads the repository may have written this: CI runs with a public token of{' '}
        <a href={projectPath(public_side_of, 'builds')}>{public_side_of}</a>. Nothing is learned from them.
      </p>
    );
  if (!side || route.page !== 'builds') return null;
  return (
    <p class="small">
      <a href={projectPath(side.name, 'builds')}>CI runs with a public token</a>
    </p>
  );
}

const NAVIGATION: [page: ProjectPage, name: string, parts: ProjectPage[]][] = [
  ['builds', 'Builds', ['builds', 'build']],
  ['trends', 'Trends', ['trends']],
  ['files', 'Files', ['files', 'file', 'flaky']],
  ['nodes', 'Nodes', ['nodes']],
  ['what-if', 'What-if', ['what-if']],
  ['set-up', 'Set-up', ['set-up', 'settings']],
];

function ProjectNavigation({ route, project }: { route: Route; project: ProjectLine }) {
  return (
    <nav class="pages" aria-label="Project">
      {(project.public_side_of === null ? NAVIGATION : NAVIGATION.slice(0, 1)).map(([page, name, parts]) => (
        <NavigationLink
          key={page}
          href={projectPath(project.name, page)}
          name={name}
          isCurrent={parts.includes(route.page as ProjectPage)}
        />
      ))}
    </nav>
  );
}

function NavigationLink({ href, name, isCurrent }: { href: string; name: string; isCurrent: boolean }) {
  return (
    <a href={href} aria-current={isCurrent ? 'page' : undefined}>
      {name}
    </a>
  );
}

/** Shows the same page of another project. A build or a file is known in its own project only. */
function ProjectSwitch({ route, project }: { route: Route; project: ProjectLine | null }) {
  const { projects } = useSession();
  if (projects.length === 0) return null;
  const page = NAVIGATION.find(([, , parts]) => parts.includes(route.page as ProjectPage))?.[0] ?? 'builds';
  return (
    <select
      class="project"
      aria-label="Project"
      title={project?.name}
      value={project?.name ?? ''}
      onChange={event => navigate(event.currentTarget.value === '' ? '/' : projectPath(event.currentTarget.value, page))}
    >
      <option value="">All projects</option>
      {projects.map(({ id, name }) => (
        <option key={id} value={name}>
          {name}
        </option>
      ))}
    </select>
  );
}
