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

/** Meanings of the shapes and colours of the timeline. */
export function Legend({ isRunning, hasPieces }: { isRunning: boolean; hasPieces: boolean }) {
  return (
    <ul class="legend">
      {ENTRIES.filter(([kind]) => isRunning || kind !== 'running').map(([kind, text]) => (
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
      <li>
        <span aria-hidden="true">↺</span> repeated
      </li>
    </ul>
  );
}
