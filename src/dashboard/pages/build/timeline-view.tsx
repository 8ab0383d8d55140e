import { useMemo, useState } from 'preact/hooks';
import { pieceOf } from '../../../protocol/piece-path.js';
import type { BuildViewProps } from '../../routes/pages.js';
import { setQuery, useAddress } from '../../routes/router.js';
import { marksIn } from '../../timeline/bars.js';
import { MANY_NODES } from '../../timeline/geometry.js';
import { type Lane, lastFirst } from '../../timeline/lanes.js';
import { Legend } from '../../timeline/legend.js';
import { RunTable } from '../../timeline/run-table.js';
import { SpanTable } from '../../timeline/span-table.js';
import { Timeline, type TimelineProps } from '../../timeline/timeline.js';
import { useSpan } from '../../timeline/use-span.js';
import { axisEnd, zoom } from '../../timeline/view.js';

type Props = Omit<BuildViewProps, 'id'> & Pick<TimelineProps, 'timeline' | 'lanes' | 'matching' | 'nodes'>;

/** The timeline with what belongs to it: its legend, its keys, the table of the selected span, and the same data as a table. */
export function TimelineView({ project, build, timeline, lanes, matching, nodes }: Props) {
  const [view, setView] = useSpan('view');
  const [selected, setSelected] = useSpan('span');
  const [isTable, setTable] = useState(false);
  const end = axisEnd(timeline.wall, timeline.floor, timeline.is_running);
  const shown = view ?? { from: 0, to: end };
  const { query } = useAddress();
  // The node that ended last is the one that people look for. While the build runs, lanes that change places would jump.
  const isOrdered = lanes.length > MANY_NODES && !timeline.is_running;
  const isByNode = query.get('lanes') === 'node';
  const order = useMemo(() => (isOrdered && !isByNode ? lastFirst(lanes) : null), [lanes, isOrdered, isByNode]);
  const inOrder = (all: readonly Lane[]) => order?.map(lane => all[lane]!) ?? all;
  const ordered = useMemo(() => inOrder(lanes), [lanes, order]);
  const orderedMatching = useMemo(() => matching && inOrder(matching), [matching, order]);
  const marks = useMemo(() => marksIn(lanes, timeline.wall, timeline.is_running), [lanes, timeline]);
  const zoomBy = (factor: number) => setView(zoom(shown, (shown.from + shown.to) / 2, factor, end));
  return (
    <>
      <Timeline
        timeline={timeline}
        lanes={ordered}
        matching={orderedMatching}
        nodes={nodes}
        view={view}
        onView={setView}
        selected={selected}
        onSelect={setSelected}
        onOpen={file => setQuery({ file }, { replace: false })}
        project={project.id}
      />
      <div class="timeline-foot">
        <Legend marks={marks} hasPieces={timeline.paths.some(path => pieceOf(path) !== null)} />
        <div class="zoom">
          {isOrdered && (
            <button type="button" onClick={() => setQuery({ lanes: isByNode ? null : 'node' })}>
              {isByNode ? 'Last node first' : 'By number of node'}
            </button>
          )}
          <button type="button" aria-label="Zoom in" onClick={() => zoomBy(1 / 2)}>
            +
          </button>
          <button type="button" aria-label="Zoom out" disabled={view === null} onClick={() => zoomBy(2)}>
            −
          </button>
          <button type="button" disabled={view === null} onClick={() => setView(null)}>
            Whole build
          </button>
        </div>
      </div>
      <details class="keys small">
        <summary>? Keys and mouse</summary>
        <p id="timeline-keys" class="quiet">
          <kbd>Ctrl</kbd> and wheel, or <kbd>w</kbd> <kbd>s</kbd>, zoom; <kbd>a</kbd> <kbd>d</kbd> pan, drag selects a span. Arrow keys go
          from file to file, with <kbd>Shift</kbd> they select; <kbd>Enter</kbd> opens a file, <kbd>Esc</kbd> goes back.
        </p>
      </details>
      {selected && <SpanTable lanes={matching ?? lanes} paths={timeline.paths} span={selected} onClose={() => setSelected(null)} />}
      <details class="as-table" onToggle={event => setTable(event.currentTarget.open)}>
        <summary>The timeline as a table</summary>
        {isTable && <RunTable lanes={matching ?? lanes} timeline={timeline} jobOf={node => build.nodes[node]?.job_url ?? null} />}
      </details>
    </>
  );
}
