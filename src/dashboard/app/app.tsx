import { useLayoutEffect, useMemo } from 'preact/hooks';
import type { ProjectLine, SessionAnswer } from '../../protocol/messages/dashboard.js';
import { useLive } from '../data/live.js';
import { SessionContext } from '../data/session.js';
import { Empty, Failure, ProgressLine } from '../parts/states.js';
import { useAddress } from '../routes/router.js';
import { type Route, routeOf } from '../routes/routes.js';
import { titleOf } from '../routes/title.js';
import { Header } from './header.js';
import { Layout } from './layout.js';
import { otherPages, projectPages } from './pages.js';

/** The whole dashboard: the session, the layout, and the page that the address names. */
export function App() {
  const { path, query, returns } = useAddress();
  const route = useMemo(() => routeOf(path), [path]);
  const title = titleOf(route, query);
  // Before the effects of the page, which may know more.
  useLayoutEffect(() => void (document.title = title), [title, path, returns]);
  // These pages show no data, so they need no session.
  const isOpen = route.page === 'sign-in' || route.page === 'not-found';
  const { data, problem, reload } = useLive<SessionAnswer>(isOpen ? null : '/dashboard/session', { attempt: 'load your session' });
  const session = useMemo(() => data && { ...data, reload }, [data]);

  // Signed out, the session is that of before.
  if (isOpen) {
    return (
      <>
        <Header />
        <Page route={route} project={null} returns={returns} />
      </>
    );
  }
  if (problem && problem.status !== 401 && !data) return <Failure problem={problem} reload={reload} />;
  if (!session) {
    return (
      <>
        <Header />
        <ProgressLine isLoading />
      </>
    );
  }
  const project = session.projects.find(({ name }) => name === route.project) ?? null;
  return (
    <SessionContext.Provider value={session}>
      <Layout route={route} project={project}>
        <Page route={route} project={project} returns={returns} />
      </Layout>
    </SessionContext.Provider>
  );
}

function Page({ route, project, returns }: { route: Route; project: ProjectLine | null; returns: number }) {
  const { page, id } = route;
  if (route.page === 'not-found') {
    return (
      <main id="content">
        <NotFound what="There is no page at this address." />
      </main>
    );
  }
  if (route.project === null) {
    const Shown = otherPages[route.page];
    return <Shown key={`${page} ${id} ${returns}`} id={id} />;
  }
  if (!project) return <NotFound what={`There is no project "${route.project}", or this session may not see it.`} />;
  const Shown = projectPages[route.page];
  return <Shown key={`${page} ${project.name} ${id} ${returns}`} project={project} id={id} />;
}

function NotFound({ what }: { what: string }) {
  return (
    <Empty title={what}>
      <a href="/">All projects</a>
    </Empty>
  );
}
