import { type MinutePartAnswer, type MinutesAnswer, PART_TITLES } from '../../../protocol/answers/minutes.js';
import { type Column, Table } from '../../parts/table.js';
import { useAddress } from '../../routes/router.js';
import { count, duration, exactDuration } from '../../text/format.js';
import { linkTo } from './link.js';
import { partsOf } from './minute-parts.js';

/** Meaning of the floor, on hover. */
const FLOOR_ABOUT = 'The least possible time: no plan with whole files ends sooner on as many nodes';
/** Parts below half a millisecond are none. */
const SMALLEST = 0.0005;
/** Losses below this part of the wall time are one. */
const SMALL_PART = 0.01;
/** Nodes that are listed of those with a part. */
const SHOWN = 8;

/** The wall time as a bar of its parts, and each part as a link to its definition and its nodes. */
export function MinutesBar({ build }: { build: MinutesAnswer }) {
  const { query } = useAddress();
  const parts = build.parts.filter(({ seconds }) => Math.abs(seconds) >= SMALLEST);
  const chosen = build.parts.find(({ name }) => name === query.get('part'));
  const sum = parts.reduce((sum, { seconds }) => sum + Math.max(0, seconds), 0);
  return (
    <section class="minutes" aria-label="Where the time went">
      <div class="minutes-bar" aria-hidden="true">
        {parts.map(({ name, seconds }) => (
          <span key={name} class={`swatch ${name}`} style={{ width: `${(100 * Math.max(0, seconds)) / sum}%` }} />
        ))}
      </div>
      <dl>
        <Group title="floor" seconds={build.floor} parts={partsOf(parts, true)} />
        <Group title="lost" seconds={build.lost} parts={partsOf(parts, false)} least={SMALL_PART * build.wall} />
      </dl>
      {chosen && <Part part={chosen} />}
    </section>
  );
}

/** @param least shorter parts are one, if they are several and none of them is chosen */
function Group({ title, seconds, parts, least = 0 }: { title: string; seconds: number; parts: MinutePartAnswer[]; least?: number }) {
  const { path, query } = useAddress();
  const isSmall = (part: MinutePartAnswer) => part.seconds < least && part.name !== query.get('part');
  const small = parts.filter(isSmall);
  const shown = small.length > 1 ? parts.filter(part => !isSmall(part)) : parts;
  if (parts.length === 0) return null;
  return (
    <div class="group">
      <dt title={title === 'floor' ? FLOOR_ABOUT : 'What the build took beyond its floor'}>
        {title} <span class="number">{duration(seconds)}</span>
      </dt>
      {shown.map(({ name, seconds, definition }, i) => (
        <dd key={name}>
          <span class="quiet" aria-hidden="true">
            {i === 0 ? '=' : '+'}
          </span>{' '}
          <a
            href={linkTo(path, query, { part: name === query.get('part') ? null : name })}
            aria-current={name === query.get('part') ? 'true' : undefined}
            title={definition}
          >
            <span class={`swatch ${name}`} aria-hidden="true" />
            {PART_TITLES[name]}{' '}
            <span class="number" title={exactDuration(seconds)}>
              {duration(seconds)}
            </span>
          </a>
        </dd>
      ))}
      {shown.length < parts.length && (
        <dd title={small.map(part => `${PART_TITLES[part.name]} ${duration(part.seconds)}`).join(', ')}>
          <span class="quiet" aria-hidden="true">
            {shown.length === 0 ? '=' : '+'}
          </span>{' '}
          {small.length} smaller parts <span class="number">{duration(small.reduce((sum, part) => sum + part.seconds, 0))}</span>
        </dd>
      )}
    </div>
  );
}

type Share = MinutePartAnswer['nodes'][number];

const COLUMNS: Column<Share>[] = [
  { name: 'node', title: 'Node', cell: ({ node_index }) => `node ${node_index}` },
  { name: 'seconds', title: 'Node time', isNumber: true, cell: ({ seconds }) => duration(seconds) },
];

function Part({ part: { name, definition, nodes } }: { part: MinutePartAnswer }) {
  const { path, query } = useAddress();
  return (
    <div class="part">
      <div>
        <p>
          <strong>{PART_TITLES[name]}</strong>: {definition}
        </p>
        {nodes.length > SHOWN && (
          <p class="small quiet">
            The table has the {SHOWN} of {count(nodes.length, 'node')} with the most of it.
          </p>
        )}
        <a href={linkTo(path, query, { part: null })}>Close</a>
      </div>
      {nodes.length > 0 && (
        <Table
          label={`Nodes of ${PART_TITLES[name]}`}
          columns={COLUMNS}
          rows={nodes.slice(0, SHOWN)}
          total={nodes.length}
          keyOf={row => row.node_index}
        />
      )}
    </div>
  );
}
