import type { FlakyFile, FlakyState } from '../../../protocol/answers/flaky.js';
import type { ProjectLine } from '../../../protocol/messages/dashboard.js';
import { priceText } from '../../../protocol/price.js';
import { Duration, When } from '../../parts/amounts.js';
import { Commit } from '../../parts/commit.js';
import { FileLink } from '../../parts/path.js';
import type { Column } from '../../parts/table.js';
import { projectPath } from '../../routes/routes.js';
import { number } from '../../text/format.js';
import { visible } from '../../text/path-text.js';
import { isOther, nodesText, rateTexts } from './sentences.js';

const MEANINGS: Record<FlakyState, string> = {
  suspected: 'It was flaky at one commit',
  flaky: 'It was flaky at two commits or more',
  healing: 'It was clean in a third of the builds that heal it, or more',
  healed: 'It was clean in all of the builds that heal it',
  failing: 'It failed at the last two commits of the default branch, and never passed',
};

export const flakyColumns = (project: ProjectLine): Column<FlakyFile>[] => [
  {
    name: 'path',
    title: 'File',
    isWide: true,
    cell: file => (
      <>
        <FileLink project={project.name} path={file.path} branch={null} />
        <Details file={file} />
      </>
    ),
    sortBy: ({ path }) => path,
  },
  { name: 'state', title: 'State', cell: file => <State project={project} file={file} /> },
  {
    name: 'rate',
    title: 'Rate',
    about: 'The part of the builds in which it is flaky, and the interval that has it with a probability of 90 %.',
    isNumber: true,
    cell: file => (file.flakes > 0 ? <Rate file={file} /> : '–'),
    sortBy: ({ flakes, rate }) => (flakes > 0 ? rate : null),
  },
  {
    name: 'seconds',
    title: 'Ran again',
    about: 'The time of what nodes ran again because of it.',
    isNumber: true,
    cell: ({ seconds }) => (seconds > 0 ? <Duration seconds={seconds} /> : '–'),
    sortBy: ({ seconds }) => seconds,
  },
  {
    name: 'cost',
    title: 'Cost',
    about: 'What that cost at the price of the project.',
    isNumber: true,
    isExtra: true,
    cell: ({ cost }) => (cost && cost.amount > 0 ? priceText(cost) : '–'),
  },
  {
    name: 'later',
    title: 'Later',
    about: 'By how much later builds ended because of it.',
    isNumber: true,
    isExtra: true,
    cell: ({ later }) => (later > 0 ? <Duration seconds={later} /> : '–'),
    sortBy: ({ later }) => later,
  },
  {
    name: 'nodes',
    title: 'Nodes',
    about: 'The nodes on which it failed in builds in which it was flaky.',
    isExtra: true,
    cell: ({ nodes }) => nodes.length > 0 && <span title={nodes.join(', ')}>{nodesText(nodes)}</span>,
  },
  {
    name: 'last',
    title: 'Last build',
    about: 'The last build in which it was flaky, or in which it failed if it never was.',
    isNumber: true,
    isExtra: true,
    cell: ({ last }) => (
      <a href={projectPath(project.name, 'build', last.build_id)}>
        <When time={last.at} />
      </a>
    ),
    sortBy: ({ last }) => last.at,
  },
];

/** What is known of its failures, in short. */
function Details({ file }: { file: FlakyFile }) {
  const { flakes, cases, slowdown, before } = file;
  const [first, ...more] = cases;
  const times = (count: number) => `${number(count)} of ${number(flakes)}`;
  const parts = [
    first && (
      <span title={cases.map(({ name, flakes }) => `${visible(name)}: ${times(flakes)}`).join('\n')}>
        <bdi>{visible(first.name)}</bdi> {more.length > 0 && `and ${number(more.length)} more`}
      </span>
    ),
    isOther(slowdown) && `took ${number(slowdown, 1)} times as long when it failed`,
    before && (
      <>
        after <bdi>{visible(before.path)}</bdi> in {times(before.flakes)}
      </>
    ),
  ].filter(Boolean);
  if (parts.length === 0) return null;
  return <div class="small quiet">{parts.flatMap((part, i) => (i === 0 ? part : [', ', part]))}</div>;
}

function State({ project, file: { state, clean, failing_since: since } }: { project: ProjectLine; file: FlakyFile }) {
  return (
    <span title={MEANINGS[state]}>
      <span class={state === 'failing' ? 'failed-text' : undefined}>{state}</span>
      {state === 'healing' && clean && (
        <span class="extra">
          , clean {clean.builds} of {clean.of}
        </span>
      )}
      {since && (
        <span class="extra">
          {' '}
          since <Commit project={project} hash={since.commit_hash} search={projectPath(project.name, 'build', since.build_id)} />
        </span>
      )}
    </span>
  );
}

function Rate({ file }: { file: FlakyFile }) {
  const { rate, interval } = rateTexts(file);
  return (
    <>
      {rate}
      <span class="extra quiet"> {interval}</span>
    </>
  );
}
