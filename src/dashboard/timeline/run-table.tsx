import { useMemo } from 'preact/hooks';
import type { TimelineAnswer } from '../../protocol/answers/timeline.js';
import { OuterLink } from '../parts/outer-link.js';
import { Path } from '../parts/path.js';
import { type Column, Table } from '../parts/table.js';
import { duration, offset } from '../text/format.js';
import { failureText, type Lane, MISSING, REPEATED, RUNNING, UNRECORDED } from './lanes.js';

interface Row {
  lane: Lane;
  run: number;
}

interface Props {
  lanes: readonly Lane[];
  timeline: TimelineAnswer;
  /** The page of the CI job of a node; null: it is not known. */
  jobOf: (node: number) => string | null;
}

/** The runs of the timeline, in the order of the nodes and of the time. */
export function RunTable({ lanes, timeline, jobOf }: Props) {
  const rows = useMemo(() => lanes.flatMap(lane => Array.from(lane.file, (_, run) => ({ lane, run }))), [lanes]);
  return (
    <Table
      label="The timeline as a table"
      columns={columnsOf(timeline, jobOf)}
      rows={rows}
      keyOf={({ lane, run }) => `${lane.node} ${run}`}
    />
  );
}

function columnsOf({ paths, estimates }: TimelineAnswer, jobOf: Props['jobOf']): Column<Row>[] {
  return [
    { name: 'node', title: 'Node', isNumber: true, cell: ({ lane }) => <OuterLink href={jobOf(lane.node)}>{lane.node}</OuterLink> },
    { name: 'batch', title: 'Batch', isNumber: true, cell: ({ lane, run }) => lane.batches[lane.batch[run]!]!.number ?? '–' },
    { name: 'start', title: 'Start', isNumber: true, cell: ({ lane, run }) => offset(lane.from[run]!, 1) },
    { name: 'file', title: 'File', isWide: true, cell: ({ lane, run }) => <Path text={paths[lane.file[run]!]!} /> },
    {
      name: 'estimate',
      title: 'Estimate',
      isNumber: true,
      isExtra: true,
      cell: ({ lane, run }) => duration(estimates[lane.file[run]!]),
    },
    { name: 'seconds', title: 'Time', isNumber: true, cell: ({ lane, run }) => duration(lane.seconds[run]!) },
    { name: 'result', title: 'Result', isExtra: true, cell: resultOf },
  ];
}

function resultOf({ lane, run }: Row): string {
  const flags = lane.flags[run]!;
  return [resultText(flags), flags & REPEATED ? 'repeated' : ''].join(' ').trim();
}

function resultText(flags: number): string {
  const failure = failureText(flags);
  if (failure) return failure;
  if (flags & RUNNING) return 'not recorded yet';
  if (flags & UNRECORDED) return flags & MISSING ? 'not recorded' : 'not recorded here';
  return '';
}
