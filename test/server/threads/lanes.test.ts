import { describe, expect, it } from 'vitest';
import { Lanes } from '../../../src/server/threads/lanes.js';

const LANE = { atOnce: Infinity };

/** Work that ends when it is told to; what began, in order. */
function workshop(atOnce: number) {
  const turns = new Lanes(atOnce);
  const began: string[] = [];
  const ends = new Map<string, (fails?: Error) => void>();
  const bring = (line: string, name: string, lane = LANE) =>
    turns.run(lane, line, () => {
      began.push(name);
      return new Promise<string>((resolve, reject) => ends.set(name, error => (error ? reject(error) : resolve(name))));
    });
  const end = async (name: string, fails?: Error) => {
    ends.get(name)!(fails);
    await new Promise(resolve => setImmediate(resolve));
  };
  return { turns, began, bring, end };
}

describe('lanes', () => {
  it('take turns, and one of them may run fewer tasks at a time', async () => {
    const { turns, began, bring, end } = workshop(2);
    const slow = { atOnce: 1 };
    for (const name of ['s1', 's2', 's3']) void bring('a', name, slow);
    expect(began).toEqual(['s1']);
    for (const name of ['f1', 'f2', 'f3']) void bring('a', name);
    expect(began).toEqual(['s1', 'f1']);
    for (const name of ['s1', 'f1', 's2']) await end(name);
    expect(began).toEqual(['s1', 'f1', 's2', 'f2', 's3']);
    await end('f2');
    expect(began.at(-1)).toBe('f3');
    expect([turns.running, turns.waiting]).toEqual([2, 0]);
  });

  it('continue after a task that failed', async () => {
    const { began, bring, end } = workshop(1);
    const failing = bring('a', 'a1');
    const next = bring('b', 'b1');
    void failing.catch(() => {});
    await end('a1', new Error('broken'));
    await expect(failing).rejects.toThrow('broken');
    expect(began).toEqual(['a1', 'b1']);
    await end('b1');
    expect(await next).toBe('b1');
  });
});
