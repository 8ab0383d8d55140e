import type { ComponentType } from 'preact';
import { useEffect, useMemo, useState } from 'preact/hooks';
import type { ProjectLine, SessionAnswer } from '../../api/messages/dashboard.js';
import { useLive } from '../data/live.js';
import { SessionContext } from '../data/session.js';
import { Empty, Failure, ProgressLine } from '../parts/states.js';
import { otherPages, type PageProps, type ProjectPageProps, projectPages } from '../routes/pages.js';
import { useAddress } from '../routes/router.js';
import { type Route, routeOf } from '../routes/routes.js';
import { Layout } from './layout.js';

/** The whole dashboard: the session, the layout, and the page that the address names. */
export function App() {
  const { path } = useAddress();
  const route = useMemo(() => routeOf(path), [path]);
  const isSigningIn = route.page === 'sign-in';
  // The page is loaded beside the session.
  const loaded = usePage(route);
  const { data, problem, reload } = useLive<SessionAnswer>(isSigningIn ? null : '/dashboard/session', { attempt: 'load your session' });
  const session = useMemo(() => data && { ...data, reload }, [data]);

  // Signed out, the session is that of before.
  if (isSigningIn) return <Page route={route} loaded={loaded} project={null} />;
  if (problem && problem.status !== 401 && !data) return <Failure problem={problem} reload={reload} />;
  if (!session) return <ProgressLine isLoading />;
  const project = session.projects.find(({ name }) => name === route.project) ?? null;
  return (
    <SessionContext.Provider value={session}>
      <Layout route={route} project={project}>
        <Page route={route} loaded={loaded} project={project} />
      </Layout>
    </SessionContext.Provider>
  );
}

function Page({ route, loaded, project }: { route: Route; loaded: AnyPage | 'failed' | null; project: ProjectLine | null }) {
  const { page, id } = route;
  useEffect(() => {
    document.title = [TITLES[page], route.project, 'Ballast'].filter(Boolean).join(' · ');
  }, [page, route.project]);
  if (route.page === 'not-found') return <NotFound what="There is no page at this address." />;
  if (route.project !== null && !project)
    return <NotFound what={`There is no project "${route.project}", or this session may not see it.`} />;
  if (loaded === 'failed') return <Outdated />;
  if (loaded === null) return <ProgressLine isLoading />;
  const key = `${page} ${route.project} ${id}`;
  if (project) {
    const Shown = loaded as ComponentType<ProjectPageProps>;
    return <Shown key={key} project={project} id={id} />;
  }
  const Shown = loaded as ComponentType<PageProps>;
  return <Shown key={key} id={id} />;
}

const TITLES: Record<Route['page'], string> = {
  builds: 'Builds',
  build: 'Build',
  files: 'Files',
  file: 'File',
  nodes: 'Nodes',
  'what-if': 'What if',
  'set-up': 'Set up',
  projects: 'Projects',
  server: 'Server',
  access: 'Access',
  docs: 'Docs',
  'sign-in': 'Sign in',
  'not-found': 'Not found',
};

type AnyPage = ComponentType<ProjectPageProps> | ComponentType<PageProps>;

/** The component of a page; null while its chunk is loaded. */
function usePage({ page }: Route): AnyPage | 'failed' | null {
  const [loaded, setLoaded] = useState<{ page: string; component: AnyPage | 'failed' } | null>(null);
  useEffect(() => {
    const pages: Record<string, () => Promise<{ default: AnyPage }>> = { ...projectPages, ...otherPages };
    let isCurrent = true;
    pages[page]?.().then(
      ({ default: component }) => isCurrent && setLoaded({ page, component }),
      () => isCurrent && setLoaded({ page, component: 'failed' }),
    );
    return () => {
      isCurrent = false;
    };
  }, [page]);
  return loaded?.page === page ? loaded.component : null;
}

function NotFound({ what }: { what: string }) {
  return (
    <Empty title={what}>
      <a href="/">All projects</a>
    </Empty>
  );
}

/** The files of a page have the hash of their content in their names: after an upgrade of the server, the ones before are gone. */
function Outdated() {
  return (
    <Empty title="This page could not be loaded.">
      <p>The server does not answer, or it was upgraded since this tab was opened. Nothing is lost.</p>
      <button type="button" onClick={() => location.reload()}>
        Load it again
      </button>
    </Empty>
  );
}
