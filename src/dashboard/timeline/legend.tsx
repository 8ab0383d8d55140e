import type { Mark } from './bars.js';

const ENTRIES: [mark: Exclude<Mark, 'repeated'>, text: string][] = [
  ['work', 'files of a batch'],
  ['over', 'over its estimate'],
  ['failed', 'failed'],
  ['flaky', 'flaky: failed, and passed when it ran again'],
  ['unrecorded', 'not recorded'],
  ['running', 'not recorded yet'],
  ['late', 'before its start'],
  ['gap', 'gap between files'],
  ['idle', 'idle'],
];

/** Meanings of the shapes and colours that a timeline has. */
export function Legend({ marks, hasPieces }: { marks: ReadonlySet<Mark>; hasPieces: boolean }) {
  return (
    <ul class="legend">
      {ENTRIES.filter(([mark]) => marks.has(mark)).map(([mark, text]) => (
        <li key={mark}>
          <span class={`swatch ${mark}`} aria-hidden="true" />
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
      {marks.has('repeated') && (
        <li>
          <span aria-hidden="true">↺</span> repeated
        </li>
      )}
    </ul>
  );
}
