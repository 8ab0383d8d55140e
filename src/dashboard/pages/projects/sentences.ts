import type { ProjectOverview } from '../../../protocol/answers/trends.js';
import { costSentences } from '../../text/cost.js';
import { count, number } from '../../text/format.js';
import { inSentence } from '../../text/in-sentence.js';

/** Projects that are named in the first line. */
const NAMED = 3;

/** Is everything all right? "3 projects, 44 builds today, 2 incomplete (api, web), 1 running." */
export function projectsSentence(projects: readonly ProjectOverview[]): string {
  const sumOf = (name: 'builds_today' | 'incomplete_today' | 'with_failures_today' | 'cancelled_today' | 'running') =>
    projects.reduce((sum, project) => sum + project[name], 0);
  const builds = sumOf('builds_today');
  const incomplete = projects.filter(project => project.incomplete_today > 0).sort((a, b) => b.incomplete_today - a.incomplete_today);
  const names = incomplete.slice(0, NAMED).map(({ name }) => inSentence(name));
  if (incomplete.length > NAMED) names.push('…');
  const others = [
    ['with failures', sumOf('with_failures_today')],
    ['cancelled', sumOf('cancelled_today')],
    ['running', sumOf('running')],
  ] as const;
  const parts = [
    count(projects.length, 'project'),
    builds > 0 ? `${count(builds, 'build')} today` : 'no build today',
    ...(incomplete.length > 0 ? [`${number(sumOf('incomplete_today'))} incomplete (${names.join(', ')})`] : []),
    ...others.flatMap(([title, value]) => (value > 0 ? [`${number(value)} ${title}`] : [])),
  ];
  return `${parts.join(', ')}.`;
}

/** Says what the projects with a price cost. Those without builds have nothing to pay. */
export function projectCosts(projects: readonly ProjectOverview[], now?: number): string[] {
  const spent = projects.flatMap(({ cost_30_days }) => cost_30_days ?? []);
  const isPart = projects.some(({ cost_30_days, recent }) => !cost_30_days && recent.length > 0);
  return costSentences(spent, isPart ? `, in ${count(spent.length, 'project')} with a price` : '', now);
}
