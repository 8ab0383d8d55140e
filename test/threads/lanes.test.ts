import { describe, expect, it } from 'vitest';
import { Lanes } from '../../src/threads/lanes.js';

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
  it('alternate between lines, even if one of them has many tasks', async () => {
    const { turns, began, bring, end } = workshop(1);
    const all = [...['a1', 'a2', 'a3', 'a4'].map(name => bring('a', name)), bring('b', 'b1'), bring('c', 'c1'), bring('b', 'b2')];
    expect([turns.waiting, turns.waitingIn(LANE, 'a'), turns.waitingIn(LANE, 'b'), turns.waitingIn(LANE, 'nobody')]).toEqual([6, 3, 2, 0]);
    const order = ['a1', 'a2', 'b1', 'c1', 'a3', 'b2', 'a4'];
    for (const name of order) await end(name);
    expect(began).toEqual(order);
    expect(await Promise.all(all)).toEqual(['a1', 'a2', 'a3', 'a4', 'b1', 'c1', 'b2']);
    expect(turns.waiting).toBe(0);
  });

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

  it('run a limited number of tasks at a time', async () => {
    const { began, bring, end } = workshop(2);
    for (const name of ['a1', 'a2', 'a3']) void bring('a', name);
    expect(began).toEqual(['a1', 'a2']);
    await end('a2');
    expect(began).toEqual(['a1', 'a2', 'a3']);
    await end('a1');
    await end('a3');
    // All turns are given back.
    for (const name of ['b1', 'b2', 'b3']) void bring('b', name);
    expect(began.slice(3)).toEqual(['b1', 'b2']);
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
