import { Tabs } from '../../parts/tabs.js';
import { projectPath, withQuery } from '../../routes/routes.js';

/** The orders of the files. */
export const ORDERS = [
  { sort: 'decided', title: 'Waited for' },
  { sort: 'estimate', title: 'Slowest' },
  { sort: 'spread', title: 'Most variable' },
  { sort: 'growth', title: 'Growing' },
  { sort: 'path', title: 'By name' },
];

interface Props {
  project: string;
  /** An order, or `flaky`. */
  current: string;
  /** What the lists are about, which changes of the order keep. */
  query?: { branch: string | null; q: string };
}

/** The lists of files. That of flaky files is about all branches. */
export function FileTabs({ project, current, query }: Props) {
  const orders = ORDERS.map(({ sort, title }) => ({
    name: sort,
    title,
    href: withQuery(projectPath(project, 'files'), { ...query, sort }),
  }));
  return (
    <Tabs
      label="Lists of files"
      current={current}
      tabs={[...orders, { name: 'flaky', title: 'Flaky', href: projectPath(project, 'flaky') }]}
    />
  );
}
