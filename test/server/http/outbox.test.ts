import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { Outbox } from '../../../src/server/http/answer.js';

/** An outbox, and what happened to the answers that `add` gave it. */
function opened() {
  const outbox = new Outbox();
  const events: string[] = [];
  const add = (name: string, saved: Promise<void> | null = null, then = () => {}) =>
    outbox.add(
      {
        write() {
          events.push(name);
          then();
        },
        fail: error => void events.push(`${name}: ${String(error)}`),
      },
      saved,
    );
  return { add, events };
}

describe('an outbox', () => {
  it('writes an answer that waits for a write to the disk after it, also when others were added between', async () => {
    const { add, events } = opened();
    let [saveFirst, saveSecond] = [() => {}, () => {}];
    const first = new Promise<void>(resolve => (saveFirst = resolve));
    const second = new Promise<void>(resolve => (saveSecond = resolve));
    add('a', first);
    add('b', second);
    add('c', first);
    add('d');
    await nextTurn();
    expect(events).toEqual(['d']);
    saveSecond();
    await nextTurn();
    expect(events).toEqual(['d', 'b']);
    saveFirst();
    await nextTurn();
    expect(events).toEqual(['d', 'b', 'a', 'c']);
  });

  it('writes an answer that comes after its write to the disk', async () => {
    const { add, events } = opened();
    const saved = Promise.resolve();
    add('a', saved);
    await nextTurn();
    add('b', saved);
    await nextTurn();
    expect(events).toEqual(['a', 'b']);
  });
});
