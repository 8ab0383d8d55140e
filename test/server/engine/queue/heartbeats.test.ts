import { describe, expect, it } from 'vitest';
import type { Pull } from '../../../../src/server/engine/queue/batch.js';
import { MINUTE, Play } from './lease-play.js';

const SECOND = 1000;
const SILENCE = 90 * SECOND;
const ALL = [0, 1, 2, 3, 4, 5];
const sorted = (files: readonly number[]) => [...files].sort((a, b) => a - b);

/** A queue of which only nodes that send heartbeats have leases. */
const started = (nodeTotal = 100) => new Play(nodeTotal, null, { silenceMilliseconds: SILENCE, factor: 0 });
const BEATS: Partial<Pull> = { heartbeats: true, acknowledges: true };
/** A pull of a process that has run its last batch. */
const pull = (play: Play, node: number) => {
  const last = [...play.journal.values()].findLast(({ node_index }) => node_index === node);
  if (last && !last.failed) play.note([play.queue.acknowledge({ node_index: node, batch_uuid: 'next' }, last.seq, { failed: [] })!]);
  return play.pull(node, BEATS);
};
/** Lets the time pass while some nodes send heartbeats. */
const work = (play: Play, nodes: readonly number[], seconds: number) => {
  for (let passed = 0; passed < seconds; passed += 15) {
    play.now += 15 * SECOND;
    for (const node of nodes) expect(play.queue.heartbeat(node, 'run-1')).not.toBe(false);
  }
};
const drain = (play: Play, node: number) => {
  const files: number[] = [];
  for (let batch = pull(play, node); batch.length > 0; batch = pull(play, node)) files.push(...batch);
  return files;
};

describe('a node that sends heartbeats', () => {
  it('keeps its batch for as long as it does, and loses it after 90 seconds of silence', () => {
    const play = started();
    const [long, lost] = [pull(play, 0), pull(play, 1), pull(play, 2)];
    work(play, [0, 2], 75);
    expect(pull(play, 2)).not.toContain(lost![0]);
    work(play, [0, 2], 15);
    expect(pull(play, 2)).toEqual(lost);
    expect(play.journal.get(1)!.lease).toBe('expired');
    work(play, [0, 2], 3000);
    expect([...drain(play, 2), ...drain(play, 2)]).not.toContain(long![0]);
    // Only the silence after the last heartbeat counts.
    work(play, [2], 75);
    expect(pull(play, 2)).toEqual([]);
    work(play, [2], 15);
    expect(pull(play, 2)).toEqual(long);
  });

  it('loses a batch that it holds for longer than the batch may take, although it lives', () => {
    const play = started();
    const held = pull(play, 0);
    pull(play, 1);
    work(play, [0, 1], 7185);
    expect(drain(play, 1)).not.toContain(held[0]);
    work(play, [0], 15);
    expect(drain(play, 1)).toEqual(held);
    expect(play.queue.heartbeat(0, 'run-1')).toBeNull();
  });

  it('is told when its lease ends, and another process of it, or a node without a batch, that it has none', () => {
    const play = started();
    pull(play, 0);
    expect([play.queue.heartbeat(0, 'run-1'), play.queue.heartbeat(0, 'run-2'), play.queue.heartbeat(1, 'run-1')]).toEqual([
      90,
      false,
      false,
    ]);
    drain(play, 0);
    expect(play.queue.heartbeat(0, 'run-1')).toBeNull();
  });

  it('keeps its batch when the queue is read back, for 90 seconds from then', () => {
    const play = started();
    const lost = pull(play, 0);
    pull(play, 1);
    work(play, [0, 1], 600);
    play.readBack();
    expect(pull(play, 1)).not.toContain(lost[0]);
    work(play, [1], 75);
    expect(drain(play, 1)).not.toContain(lost[0]);
    work(play, [], 15);
    expect(drain(play, 1)).toEqual(lost);
  });

  it('has a lease also when it restarts again before it has run anything', () => {
    const play = started();
    const lost = pull(play, 0);
    pull(play, 1);
    for (const run of ['run-2', 'run-3']) {
      play.now += SECOND;
      expect(play.pull(0, { ...BEATS, run, isFirstRequest: true })).toEqual(lost);
      expect(play.queue.heartbeat(0, run)).toBe(90);
    }
    work(play, [1], 90);
    expect(drain(play, 1)).toEqual(expect.arrayContaining(lost));
  });

  it('is not silent while no node reaches the server', () => {
    const play = started();
    const kept = pull(play, 0);
    pull(play, 1);
    play.now += 10 * MINUTE;
    expect(drain(play, 1)).not.toContain(kept[0]);
    expect(play.queue.heartbeat(0, 'run-1')).toBe(90);
  });

  it.each([
    ['is silent', (play: Play) => work(play, [9], 90)],
    ['is cancelled', (play: Play, node: number) => play.note([play.queue.cancel({ node_index: node, run: 'run-1' }, null, play.now)!])],
  ])('loses its batch when it %s, also to nodes that lose it in turn, three times at most', (_, leave) => {
    const play = started();
    const handed: number[][] = [];
    pull(play, 9);
    for (let node = 0; node <= 4; node++) {
      handed.push(pull(play, node));
      leave(play, node);
    }
    const first = handed[0]![0];
    expect(handed.map(files => files.includes(first!))).toEqual([true, true, true, true, false]);
    play.readBack();
    work(play, [9], 90);
    expect(drain(play, 9)).not.toContain(first);
    // The node that has it gets it again.
    expect(play.pull(3, { ...BEATS, run: 'run-2', isFirstRequest: true })).toEqual([first]);
  });

  it('has no lease where leases are off', () => {
    const play = new Play(100, null, { silenceMilliseconds: Infinity, factor: 0 });
    const kept = pull(play, 0);
    expect(play.queue.heartbeat(0, 'run-1')).toBeNull();
    play.now += 1000 * MINUTE;
    expect(drain(play, 1)).not.toContain(kept[0]);
  });

  it('leaves a node without heartbeats its batch for ever', () => {
    const play = started();
    const kept = play.pull(0);
    play.now += 1000 * MINUTE;
    expect(sorted([...kept, ...drain(play, 1)])).toEqual(ALL);
    expect(play.queue.heartbeat(0, 'run-1')).toBeNull();
  });
});

describe('what other processes heard of a node', () => {
  it('renews its lease, and only a lease that ends asks for it', () => {
    const play = started();
    const kept = pull(play, 0);
    pull(play, 1);
    work(play, [1], 75);
    expect(play.queue.areLeasesEnding).toBe(false);
    work(play, [1], 15);
    expect(play.queue.areLeasesEnding).toBe(true);
    play.queue.hear([[0, play.now - 20 * SECOND]]);
    expect(drain(play, 1)).not.toContain(kept[0]);
    work(play, [1], 60);
    expect(pull(play, 1)).toEqual([]);
    work(play, [1], 15);
    expect(pull(play, 1)).toEqual(kept);
  });

  it('is only what nodes said, not that a queue was read', () => {
    const play = started();
    pull(play, 0);
    pull(play, 1);
    const before = play.now;
    play.readBack();
    expect(play.queue.heardSince(before - 1)).toEqual([]);
    work(play, [1], 15);
    expect(play.queue.heardSince(before)).toEqual([[1, play.now]]);
  });
});

describe('a node for which no file is left', () => {
  it('stands by while others work, alone, and gets the files of one that dies', () => {
    const play = started();
    const held = pull(play, 1);
    const second = pull(play, 2);
    drain(play, 0);
    expect(play.queue.standsBy(0)).toBe(true);
    expect(pull(play, 2)).toEqual([]);
    expect(play.queue.standsBy(2)).toBe(false);
    for (let i = 0; i < 17; i++) {
      play.now += 5 * SECOND;
      expect([pull(play, 0), play.queue.standsBy(0)]).toEqual([[], true]);
    }
    play.now += 5 * SECOND;
    expect(pull(play, 0)).toEqual(held);
    // It does not stand by now.
    expect(play.queue.standsBy(2)).toBe(true);
    expect([pull(play, 0), play.queue.standsBy(0)]).toEqual([[], false]);
    expect(sorted([...held, ...second, ...play.queue.filesOf(0)].filter((file, i, all) => all.indexOf(file) === i))).toEqual(ALL);
  });

  it('stands by also when it comes', () => {
    const play = started();
    const held = pull(play, 1);
    drain(play, 2);
    const come = () => play.pull(0, { ...BEATS, isFirstRequest: true });
    expect([come(), play.queue.standsBy(0)]).toEqual([[], true]);
    const got = Array.from({ length: 6 }, () => {
      play.now += 15 * SECOND;
      return pull(play, 0);
    });
    expect(got).toEqual([[], [], [], [], [], held]);
  });

  it('takes the place of one that stood by and died', () => {
    const play = started();
    pull(play, 1);
    pull(play, 2);
    drain(play, 0);
    expect(play.queue.standsBy(0)).toBe(true);
    play.now += 14 * SECOND;
    expect([pull(play, 2), play.queue.standsBy(2)]).toEqual([[], false]);
    play.now += SECOND;
    expect(play.queue.standsBy(2)).toBe(true);
  });

  it('does not leave in favour of one that leaves in its favour, when two servers each know one of them', () => {
    const [one, other] = [started(), started()];
    for (const play of [one, other]) {
      pull(play, 0);
      drain(play, 1);
    }
    expect([one.queue.standsBy(1), other.queue.standsBy(2)]).toEqual([true, true]);
    expect([one.queue.standsBy(2), other.queue.standsBy(1)]).toEqual([false, true]);
  });

  it('leaves after five minutes, unless another node is silent', () => {
    const play = started();
    pull(play, 0);
    drain(play, 1);
    const stands = (seconds: number, working: readonly number[]) => {
      let stands = true;
      for (let passed = 0; passed < seconds && stands; passed += 5) {
        play.now += 5 * SECOND;
        for (const node of passed % 15 === 0 ? working : []) play.queue.heartbeat(node, 'run-1');
        if (pull(play, 1).length > 0) return 'got files';
        stands = play.queue.standsBy(1);
      }
      return stands;
    };
    expect(play.queue.standsBy(1)).toBe(true);
    expect(stands(250, [0])).toBe(true);
    expect(stands(100, [])).toBe('got files');
    expect(play.queue.standsBy(1)).toBe(false);
    const other = started();
    pull(other, 0);
    drain(other, 1);
    for (let passed = 0; passed < 300; passed += 5) {
      expect(other.queue.standsBy(1)).toBe(true);
      other.now += 5 * SECOND;
      other.queue.heartbeat(0, 'run-1');
    }
    expect(other.queue.standsBy(1)).toBe(false);
  });
});
