import { FAILED, type Lane, OVER, REPEATED, RUNNING, UNRECORDED } from './lanes.js';

const ENTRIES: [kind: string, text: string][] = [
  ['work', 'files of a batch'],
  ['over', 'over its estimate'],
  ['failed', 'failed'],
  ['unrecorded', 'not recorded'],
  ['running', 'not recorded yet'],
  ['late', 'before its start'],
  ['gap', 'gap'],
  ['idle', 'idle'],
];

/** Meanings of the shapes and colours that a timeline has. */
export function Legend({ lanes, wall, hasPieces }: { lanes: readonly Lane[]; wall: number; hasPieces: boolean }) {
  const has = (flag: number) => lanes.some(({ flags }) => flags.some(each => (each & flag) !== 0));
  const isDrawn: Record<string, boolean> = {
    over: has(OVER),
    failed: has(FAILED),
    unrecorded: has(UNRECORDED),
    running: has(RUNNING),
    late: lanes.some(({ start }) => start !== 0),
    idle: lanes.some(({ end }) => end !== null && end < wall),
  };
  return (
    <ul class="legend">
      {ENTRIES.filter(([kind]) => isDrawn[kind] ?? true).map(([kind, text]) => (
        <li key={kind}>
          <span class={`swatch ${kind}`} aria-hidden="true" />
          {text}
        </li>
      ))}
      {hasPieces && (
        <li>
          <span class="number" aria-hidden="true">
            2/3
          </span>{' '}
          piece of a file
        </li>
      )}
      {has(REPEATED) && (
        <li>
          <span aria-hidden="true">↺</span> repeated
        </li>
      )}
    </ul>
  );
}
