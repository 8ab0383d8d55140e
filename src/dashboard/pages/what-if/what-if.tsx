import { useEffect, useRef, useState } from 'preact/hooks';
import { agree } from '../../../base/plural.js';
import type { BuildLines } from '../../../protocol/answers/trends.js';
import type { NodeCountsAnswer, Variant, WhatIfAnswer } from '../../../protocol/answers/what-if.js';
import { hasEndedComplete } from '../../../protocol/build-state.js';
import { limits } from '../../../protocol/limits.js';
import type { ProjectLine } from '../../../protocol/messages/dashboard.js';
import { priceText } from '../../../protocol/price.js';
import { usualNodeTotal } from '../../../protocol/usual-nodes.js';
import { useLive } from '../../data/live.js';
import { Duration, When } from '../../parts/amounts.js';
import { Figure } from '../../parts/figure.js';
import { FirstLine } from '../../parts/first-line.js';
import { FoldedTable } from '../../parts/folded-table.js';
import { Branch } from '../../parts/path.js';
import { Empty, Loaded } from '../../parts/states.js';
import type { Column } from '../../parts/table.js';
import type { ProjectPageProps } from '../../routes/pages.js';
import { setQuery, useAddress, useTitle } from '../../routes/router.js';
import { projectPath, withQuery } from '../../routes/routes.js';
import { count, number } from '../../text/format.js';
import { commitOf } from '../../text/in-sentence.js';
import { buildName } from '../builds/state.js';
import { Chart } from './chart.js';
import { Controls } from './controls.js';
import { columnOf } from './curve.js';
import { LastBuilds } from './last-builds.js';
import { difference, whatIfSentences } from './sentences.js';

/** Time that the handle rests before its number stands in the address, in milliseconds. Browsers limit how often it may change. */
const REST = 200;

/**
 * Plays the build in the address, or else the newest one of the default branch that has ended with the usual number of nodes, without a missing
 * file if there is one.
 */
export function WhatIfPage({ project }: ProjectPageProps) {
  const named = useAddress().query.get('build');
  const live = useLive<BuildLines>(
    named === null ? withQuery('/v1/build_summaries', { branch: project.default_branch, limit: limits.trendBuilds }) : null,
    {
      attempt: 'find the newest build',
      project: project.id,
    },
  );
  const ended = live.data?.builds.filter(build => build.build_id !== null && !build.is_running) ?? [];
  const usualNodes = usualNodeTotal(ended);
  const usual = ended.filter(build => build.node_total === usualNodes);
  const newest = usual.find(({ state }) => hasEndedComplete(state)) ?? usual[0];
  const build = named ?? newest?.build_id ?? null;
  // The same element for both, so that the handle keeps the focus when the address names the build.
  return build === null ? (
    <Loaded live={live}>{() => <NoBuild project={project} />}</Loaded>
  ) : (
    <WhatIf {...{ project, build }} isNamed={named !== null} />
  );
}

function NoBuild({ project }: { project: ProjectLine }) {
  return (
    <Empty title="No build can be played yet.">
      <p>This page plays a recorded build again with other numbers of nodes. It needs one build that has ended.</p>
      <a class="button" href={projectPath(project.name, 'set-up')}>
        Set up the first build
      </a>
    </Empty>
  );
}

function WhatIf({ project, build, isNamed }: { project: ProjectLine; build: string; isNamed: boolean }) {
  const { query } = useAddress();
  // The server says what is wrong with them.
  const choices = { mode: query.get('mode'), in_pieces: query.get('in_pieces') };
  const live = useLive<WhatIfAnswer>(withQuery(`/v1/builds/${encodeURIComponent(build)}/what_if`, choices), {
    attempt: 'play this build again',
    project: project.id,
  });
  const branch = isNamed ? (live.data?.branch ?? null) : project.default_branch;
  const last = useLive<NodeCountsAnswer>(branch === null ? null : withQuery('/v1/trends/node_counts', { branch, ...choices }), {
    attempt: 'play the last builds',
    project: project.id,
  });
  useTitle(live.data && buildName(live.data));
  const waiting = 'Playing builds again with other numbers of nodes. A suite of 100,000 files takes some seconds …';
  return (
    <Loaded live={live} waiting={waiting}>
      {answer => (
        <Loaded live={last} waiting={waiting}>
          {last => <Played {...{ project, build, answer, last }} isPiecesChosen={choices.in_pieces !== null} />}
        </Loaded>
      )}
    </Loaded>
  );
}

interface PlayedProps {
  project: ProjectLine;
  build: string;
  /** A reader has said whether files run in pieces. */
  isPiecesChosen: boolean;
  answer: WhatIfAnswer;
  last: NodeCountsAnswer;
}

function Played({ project, build, isPiecesChosen, answer, last }: PlayedProps) {
  const { variants, node_count } = answer;
  const [nodes, setNodes] = useNodes(build, node_count);
  const chosen = columnOf(variants, nodes);
  const today = columnOf(variants, node_count);
  if (variants.length === 0) return <Empty title="Nothing of this build is recorded, so it cannot be played again." />;
  return (
    <>
      <FirstLine sentences={whatIfSentences(last, answer, isPiecesChosen)}>
        <p class="small quiet">
          {count(last.builds.length, 'build')} played with each number of nodes
          {last.left_out > 0 && `; ${number(last.left_out)} left out: not complete, or with less than half of the files`}.{' '}
          {last.target === null && (
            <>
              With <a href={projectPath(project.name, 'settings')}>a target</a>, the first line says which number is enough.
            </>
          )}
        </p>
      </FirstLine>
      <p class="small quiet build-name">
        The chart plays&nbsp;
        <a href={projectPath(project.name, 'build', build)}>
          <Branch name={answer.branch} />
        </a>
        &nbsp;· {commitOf(answer.commit_hash)} · {count(node_count, 'node')} ·&nbsp;
        <When time={answer.started_at} />
      </p>
      <Chart
        {...{ variants, chosen, today }}
        mark={markOf(last, answer)}
        target={last.target}
        onChoose={index => setNodes(variants[index]!.nodes)}
      />
      {variants[chosen]!.nodes !== nodes && (
        <p class="small">
          {count(variants[chosen]!.nodes, 'node')} {agree(variants[chosen]!.nodes, 'is', 'are')} shown: the address asks for a number that
          is not played.
        </p>
      )}
      <Reading chosen={variants[chosen]!} today={variants[today]!} />
      <Controls answer={answer} onChange={changes => setQuery({ build, ...changes })} />
      <details>
        <summary>What this assumes</summary>
        <ul>
          {answer.assumptions.sentences.map(sentence => (
            <li key={sentence}>{sentence}</li>
          ))}
        </ul>
      </details>
      {last.counts.length > 0 && <LastBuilds last={last} />}
      <FoldedTable
        title="The chart as a table"
        label="Numbers of nodes"
        columns={COLUMNS}
        rows={variants}
        keyOf={variant => variant.nodes}
      />
    </>
  );
}

/** The number of nodes at the handle, which the address holds once it rests. */
function useNodes(build: string, today: number): [number, (nodes: number) => void] {
  const text = useAddress().query.get('nodes');
  const [moved, setMoved] = useState<number | null>(null);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => setMoved(null), [text]);
  useEffect(() => () => clearTimeout(timer.current), []);
  const move = (nodes: number) => {
    setMoved(nodes);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => setQuery({ build, nodes: nodes === today ? null : String(nodes) }), REST);
  };
  return [moved ?? (text === null ? today : Number(text)), move];
}

/** The recommended number, or that of the build when no build of its branch ended complete. */
function markOf({ counts, recommended, builds }: NodeCountsAnswer, { useful_nodes }: WhatIfAnswer) {
  const within = counts.find(({ nodes }) => nodes === recommended)?.within ?? null;
  return { nodes: recommended ?? useful_nodes, text: within === null ? 'more bring little' : `${within} of ${builds.length} in time` };
}

function Reading({ chosen, today }: { chosen: Variant; today: Variant }) {
  return (
    <dl class="figures what-if-reading">
      <Figure title="Nodes">{number(chosen.nodes)}</Figure>
      <Figure title="Wall time">
        <Duration seconds={chosen.wall} />
      </Figure>
      <Figure title="Node-minutes">{number(chosen.job_seconds / 60)}</Figure>
      {chosen.price && <Figure title="Cost">{priceText(chosen.price)}</Figure>}
      <Figure title={`Against ${count(today.nodes, 'node')}`}>{difference(chosen, today)}</Figure>
      <Figure title="Measured">{chosen.measured === null ? 'no such build' : <Duration seconds={chosen.measured} />}</Figure>
    </dl>
  );
}

const COLUMNS: Column<Variant>[] = [
  { name: 'nodes', title: 'Nodes', isNumber: true, cell: ({ nodes }) => nodes },
  { name: 'wall', title: 'Wall time', isNumber: true, cell: ({ wall }) => <Duration seconds={wall} /> },
  { name: 'work', title: 'Node-minutes', isNumber: true, cell: ({ job_seconds }) => number(job_seconds / 60, 1) },
  { name: 'cost', title: 'Cost', isNumber: true, cell: ({ price }) => (price ? priceText(price) : '') },
  { name: 'measured', title: 'Measured', isNumber: true, isExtra: true, cell: ({ measured }) => <Duration seconds={measured} /> },
];
