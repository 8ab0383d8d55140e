import type { MinutesAnswer, NodeSummary } from '../../../protocol/answers/minutes.js';
import { Duration } from '../../parts/amounts.js';
import { OuterLink } from '../../parts/outer-link.js';
import { type Column, Table } from '../../parts/table.js';
import { setQuery, useAddress } from '../../routes/router.js';
import { number, times } from '../../text/format.js';
import { linkTo } from './link.js';

/** The nodes of a build as a table. */
export function BuildNodes({ build }: { build: MinutesAnswer }) {
  const { path, query } = useAddress();
  return (
    <Table
      label="Nodes"
      columns={columnsOf(build, node => linkTo(path, query, { tab: null, q: `node:${node}` }))}
      rows={build.nodes}
      keyOf={({ node_index }) => node_index}
      order={query.get('sort') ?? ''}
      onOrder={sort => setQuery({ sort })}
    />
  );
}

const JOB: Column<NodeSummary> = {
  name: 'job',
  title: 'Job',
  about: 'The page of the CI job',
  cell: ({ node_index, job_url }) =>
    job_url === null ? (
      '–'
    ) : (
      <OuterLink href={job_url} title={`The CI job of node ${node_index}`}>
        job
      </OuterLink>
    ),
};

function columnsOf({ kind, is_running }: MinutesAnswer, link: (node: number) => string): Column<NodeSummary>[] {
  const time = (
    name: 'start' | 'end' | 'busy' | 'unreported' | 'gaps' | 'idle' | 'repeats',
    title: string,
    about: string,
    of = (node: NodeSummary): number | null => node[name],
  ): Column<NodeSummary> => ({
    name,
    title,
    about,
    isNumber: true,
    isExtra: name !== 'end' && name !== 'idle',
    isLeast: name === 'end',
    cell: node => <Duration seconds={of(node)} />,
    sortBy: of,
  });
  const stateOf = ({ start, recorded, repeats, is_cancelled }: NodeSummary) => {
    if (is_cancelled) return 'cancelled';
    const yet = is_running ? ' yet' : '';
    // Only a queue knows of a node that recorded nothing whether it had files.
    if (start === null && kind === 'queue') return `took no files${yet}`;
    if (!recorded) return `not recorded${yet}`;
    return repeats > 0 ? 'ran files again' : 'recorded';
  };
  return [
    {
      name: 'node',
      title: 'Node',
      cell: ({ node_index }) => <a href={link(node_index)}>node {node_index}</a>,
      sortBy: ({ node_index }) => node_index,
    },
    JOB,
    { name: 'state', title: 'State', cell: stateOf, sortBy: stateOf },
    time('start', 'Started', 'After the start of the build'),
    time('end', 'Ended', 'After the start of the build', node => (is_running && !node.recorded ? null : node.end)),
    {
      name: 'batches',
      title: 'Batches',
      isNumber: true,
      isExtra: true,
      cell: ({ batches }) => number(batches),
      sortBy: ({ batches }) => batches,
    },
    { name: 'files', title: 'Files', isNumber: true, isExtra: true, cell: ({ files }) => number(files), sortBy: ({ files }) => files },
    time('busy', 'Tests', 'What its files took: as recorded, or else as expected'),
    time('unreported', 'Not reported', 'What its files took besides the times in their reports'),
    time('gaps', 'Gaps', 'Between two batches, and between the files and the end of their batch'),
    time('idle', 'Idle', 'From its end to the end of the build'),
    time('repeats', 'Repeats', 'Files that had run before, and what is left of the build after the files of a lost node'),
    {
      name: 'slowness',
      title: 'Slowness',
      about: 'How long its files took, relative to their estimates and to the other nodes. Above 1, the node is slower than they are',
      isNumber: true,
      cell: ({ slowness }) => times(slowness),
      sortBy: ({ slowness }) => slowness,
    },
  ];
}
