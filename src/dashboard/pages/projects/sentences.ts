import type { ProjectOverview } from '../../../protocol/answers/trends.js';
import { count, duration, percent } from '../../text/format.js';
import { inSentence } from '../../text/in-sentence.js';

/** Projects that are named in the first line. */
const NAMED = 3;

/** Is everything all right? "3 projects." "web: 41 builds today, median 8 m 12 s, 4 % idle." "api: one build incomplete." */
export function projectsSentences(projects: readonly ProjectOverview[]): string[] {
  const named = projects
    .filter(project => project.builds_today + project.running > 0)
    .sort((a, b) => b.incomplete_today - a.incomplete_today || b.builds_today - a.builds_today)
    .slice(0, NAMED);
  const isQuiet = named.length === 0 && projects.some(project => project.recent.length > 0);
  return [`${count(projects.length, 'project')}.`, ...named.map(sentence), ...(isQuiet ? ['No build today.'] : [])];
}

function sentence({ name, builds_today, running, incomplete_today, cancelled_today, median_wall, idle_share }: ProjectOverview): string {
  const isMeasured = builds_today > incomplete_today + cancelled_today;
  const parts = [
    incomplete_today > 0 && (incomplete_today === 1 ? 'one build incomplete' : `${count(incomplete_today, 'build')} incomplete`),
    builds_today > 0 && `${count(builds_today, 'build')} today`,
    cancelled_today > 0 && `${cancelled_today} cancelled`,
    running > 0 && `${running} running`,
    isMeasured && `median ${duration(median_wall)}`,
    isMeasured && `${percent(idle_share)} idle`,
  ].filter(Boolean);
  return `${inSentence(name)}: ${parts.join(', ')}.`;
}
