import { useState } from 'preact/hooks';
import type { BatchReason, FileReason, WhyAnswer } from '../../../protocol/answers/why.js';
import { useLive, whileRunning } from '../../data/live.js';
import { Duration } from '../../parts/amounts.js';
import { Figure } from '../../parts/figure.js';
import { FileLink } from '../../parts/path.js';
import { Loaded } from '../../parts/states.js';
import { type Column, Table } from '../../parts/table.js';
import type { BuildViewProps } from '../../routes/pages.js';
import { setQuery, useAddress } from '../../routes/router.js';
import { withQuery } from '../../routes/routes.js';
import { clock, count, duration, exactTime, number, times, unbroken } from '../../text/format.js';

/** Batches that are shown before the reader asks for more. */
const PAGE = 100;
/** Interval at which a running build is loaded again, in seconds. */
const REFRESH = 5;

/** The tab of a build that explains each hand-out: why this node got these files at that moment. */
export function Why({ project, id }: BuildViewProps) {
  const { query } = useAddress();
  const node = /^\d{1,5}$/.exec(query.get('node') ?? '')?.[0] ?? null;
  const path = withQuery(`/v1/builds/${encodeURIComponent(id)}/why`, { node_index: node });
  const request = { attempt: 'explain the batches of this build', project: project.id };
  const live = useLive<WhyAnswer>(path, request, whileRunning(REFRESH));
  return <Loaded live={live}>{answer => <Batches key={node} answer={answer} node={node} project={project.name} />}</Loaded>;
}

function Batches({ answer, node, project }: { answer: WhyAnswer; node: string | null; project: string }) {
  const { batches, node_total, kind, branch, started_at } = answer;
  const [shown, setShown] = useState(PAGE);
  const nodes = Math.min(node_total, 1000);
  return (
    <>
      <div class="choices">
        <p class="sentence">{sentence(answer)}</p>
        {kind !== 'recordings' && (
          <label>
            Node
            <select value={node ?? ''} onChange={event => setQuery({ node: event.currentTarget.value })}>
              <option value="">all</option>
              {Array.from({ length: nodes }, (_, i) => (
                <option key={i} value={i}>
                  {i}
                </option>
              ))}
            </select>
          </label>
        )}
      </div>
      <ol class="batches">
        {batches.slice(0, shown).map(batch => (
          <Batch key={`${batch.batch} ${batch.node_index} ${batch.handed_at}`} {...{ batch, started_at, project, branch }} />
        ))}
      </ol>
      {shown < batches.length && (
        <button type="button" onClick={() => setShown(shown + PAGE)}>
          Show {number(Math.min(PAGE, batches.length - shown))} more of {number(batches.length)}
        </button>
      )}
    </>
  );
}

function sentence({ batches, batch_count, kind }: WhyAnswer): string {
  if (kind === 'recordings') return 'Only recordings of this build are known. Ballast did not plan it, so there is nothing to explain.';
  if (batches.length === 0) return 'No files were handed out here yet.';
  const parts = kind === 'split' ? count(batch_count, 'part') : count(batch_count, 'batch', 'batches');
  const cut = batches.length < batch_count ? ` The first ${number(batches.length)} are listed: choose a node to see its others.` : '';
  return `${parts}, each with what was known when it was handed out.${cut}`;
}

interface BatchProps {
  batch: BatchReason;
  started_at: string;
  project: string;
  branch: string;
}

function Batch({ batch, started_at, project, branch }: BatchProps) {
  const [isOpen, setOpen] = useState(false);
  const { node_index, handed_at, reason, files, file_count } = batch;
  const after = (Date.parse(handed_at) - Date.parse(started_at)) / 1000;
  return (
    <li>
      <details onToggle={event => setOpen(event.currentTarget.open)}>
        <summary>
          <span class="facts">
            <span class="number">{batch.batch === null ? 'part' : `batch ${batch.batch}`}</span>
            <strong class="number">node {node_index}</strong>
            <span class="number quiet" title={exactTime(handed_at)}>
              {after < 0 ? clock(handed_at) : `after ${duration(after)}`}
            </span>
            <span class="number quiet">{count(file_count, 'file')}</span>
          </span>
          <span class="reason small">{unbroken(reason)}</span>
        </summary>
        {isOpen && (
          <div class="evidence">
            {batch.decision && <Decision decision={batch.decision} />}
            <Table label={`Files of node ${node_index}`} columns={columnsOf(project, branch)} rows={files} keyOf={file => file.path} />
            {files.length < file_count && (
              <p class="small quiet">
                The first {number(files.length)} of {count(file_count, 'file')}.
              </p>
            )}
          </div>
        )}
      </details>
    </li>
  );
}

function Decision({ decision }: { decision: NonNullable<BatchReason['decision']> }) {
  const { remaining, finish_in, speed, slowdown, share, target, pull_cost, hidden } = decision;
  const figures: [name: string, value: string, about: string][] = [
    ['Left in the queue', duration(remaining), 'What all files that were left would take one node, this batch included.'],
    ['All would finish in', duration(finish_in), 'The time until all nodes would finish together, as expected then.'],
    ['Speed of the node', `${number(speed, 2)}×`, 'Relative to the other nodes, as measured until then.'],
    ['Actual over estimated', `${number(slowdown, 2)}×`, 'What a second of estimates took in the batches of the queue until then.'],
    ['Its share', duration(share), 'The work that the node would do until all nodes finish.'],
    ['Size of this batch', duration(target), 'A part of the share, so that later batches can correct errors.'],
    ['Pull cost', duration(pull_cost), 'What a node loses between two batches, as learned until then.'],
    ['Besides its tests', duration(hidden), 'What each file took that is in no report, as learned until then.'],
  ];
  return (
    <dl class="figures">
      {figures.map(([name, value, about]) => (
        <Figure key={name} title={name} about={about}>
          {value}
        </Figure>
      ))}
    </dl>
  );
}

const SOURCES: Record<NonNullable<FileReason['source']>, string> = {
  branch: 'this branch',
  default_branch: 'the default branch',
  other_branch: 'another branch',
  cases: 'its test cases',
  file: 'a share of its file',
  directory: 'guess: its directory',
  suite: 'guess: the suite',
  none: 'guess: nothing was measured',
};

/** A file that took longer than this times its estimate is marked. */
const FAR_OVER = 1.5;

const columnsOf = (project: string, branch: string): Column<FileReason>[] => [
  {
    name: 'path',
    title: 'File',
    isWide: true,
    cell: ({ path }) => <FileLink project={project} path={path} branch={branch} />,
  },
  { name: 'estimate', title: 'Estimate', isNumber: true, cell: ({ estimate }) => <Duration seconds={estimate} /> },
  { name: 'source', title: 'Known from', isExtra: true, cell: ({ source }) => SOURCES[source] },
  { name: 'count', title: 'Builds', isNumber: true, isExtra: true, cell: ({ count }) => number(count) },
  {
    name: 'spread',
    title: 'Varies by',
    about: 'The usual deviation: 1.2× means from 1/1.2 to 1.2 times the estimate.',
    isNumber: true,
    isExtra: true,
    cell: ({ spread }) => (spread === null ? '–' : `${number(spread, 2)}×`),
  },
  {
    name: 'seconds',
    title: 'Took',
    isNumber: true,
    cell: ({ seconds }) => (seconds === null ? 'not recorded' : <Duration seconds={seconds} />),
  },
  {
    name: 'ratio',
    title: 'Of estimate',
    isNumber: true,
    cell: ({ seconds, estimate }) => {
      if (seconds === null || !(estimate > 0)) return '';
      const ratio = seconds / estimate;
      return ratio > FAR_OVER ? <strong>▲ {times(ratio)}</strong> : times(ratio);
    },
  },
];
