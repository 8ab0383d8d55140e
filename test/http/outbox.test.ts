import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { Outbox } from '../../src/http/outbox.js';

describe('an outbox', () => {
  it('writes what was added in a turn at its end, in order, and what is added meanwhile a turn later', async () => {
    const outbox = new Outbox();
    const written: string[] = [];
    const add = (name: string, then = () => {}) =>
      outbox.add({
        write: () => {
          written.push(name);
          then();
        },
      });
    add('a', () => add('c'));
    add('b');
    expect(written).toEqual([]);
    await nextTurn();
    expect(written).toEqual(['a', 'b']);
    await nextTurn();
    expect(written).toEqual(['a', 'b', 'c']);
  });
});
