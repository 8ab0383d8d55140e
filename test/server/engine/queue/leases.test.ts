import { describe, expect, it } from 'vitest';
import { CostEstimate } from '../../../../src/server/planning/batching/batch-cost.js';
import { MINUTE, Play } from './lease-play.js';
import { requestOf } from './requests.js';

/** 3 times 10 s, and a minute. */
const LEASE_MILLISECONDS = 90_000;

const sorted = (files: readonly number[]) => [...files].sort((a, b) => a - b);
const ALL = [0, 1, 2, 3, 4, 5];
const WHEREABOUTS = [
  ['in memory', false],
  ['read back', true],
] as const;

describe('a node whose lease expires', () => {
  it.each(WHEREABOUTS)('loses its batch to another node, with the queue %s', (_, isReadBack) => {
    const play = new Play();
    const [lost, first] = [play.pull(0), play.pull(1)];
    expect([lost.length, first.length]).toEqual([1, 1]);
    if (isReadBack) play.readBack();
    play.pull(1);
    play.now += LEASE_MILLISECONDS;
    // Its files are the next ones.
    expect(play.pull(1)).toEqual(lost);
    expect(play.journal.get(0)!.lease).toBe('expired');
    if (isReadBack) play.readBack();
    expect(play.drain(1)).not.toContain(lost[0]);
  });

  it('keeps its batch for longer when files take more than reports tell', () => {
    const batches = new CostEstimate({ setting: 0, meanWeight: 100_000, isGuessed: false, learned: null });
    for (let files = 1; files <= 40; files++) batches.observe(files, 100_000, 100_000 + files * 300_000);
    const play = new Play(100, batches.takeObserved());
    const kept = play.pull(0);
    play.pull(1);
    play.now += 2 * LEASE_MILLISECONDS - MINUTE;
    expect(play.drain(1)).not.toContain(kept[0]);
    play.now += LEASE_MILLISECONDS;
    expect(play.pull(1)).toEqual(kept);
    // Also when it restarts and gets its files again.
    const again = play.pull(1, { isFirstRequest: true, wantsLastSplit: true });
    expect(again).toContain(kept[0]);
    play.now += 2 * LEASE_MILLISECONDS - MINUTE;
    expect(play.drain(2)).toEqual([]);
  });

  it('loses its batch even if no file remains', () => {
    const play = new Play();
    const lost = play.pull(0);
    const others = play.drain(1);
    expect(sorted([...lost, ...others])).toEqual(ALL);
    play.now += LEASE_MILLISECONDS;
    expect(play.drain(1)).toEqual(lost);
  });

  it('loses its batch once, and the next node keeps it', () => {
    const play = new Play();
    const lost = play.pull(0);
    play.pull(1);
    play.now += LEASE_MILLISECONDS;
    expect(play.pull(1)).toEqual(lost);
    play.drain(2);
    play.now += 100 * LEASE_MILLISECONDS;
    expect(play.drain(2)).toEqual([]);
    play.readBack();
    expect(play.drain(2)).toEqual([]);
    play.now += 100 * LEASE_MILLISECONDS;
    expect(play.drain(2)).toEqual([]);
    play.readBack();
    expect(play.drain(2)).toEqual([]);
  });

  it('continues when it comes back after its batch was reassigned', () => {
    const play = new Play();
    const batch = play.pull(0);
    play.now += LEASE_MILLISECONDS;
    // Another node's pull finds the lease expired, and gets the batch.
    expect(play.pull(2)).toContain(batch[0]);
    expect(play.pull(0)).not.toContain(batch[0]);
    expect(play.journal.get(0)!.lease).toBe('returned');
    play.readBack();
    expect([...play.drain(0), ...play.drain(2)]).not.toContain(batch[0]);
  });

  it('keeps its batch when it comes back before another node took it', () => {
    const play = new Play();
    const kept = play.pull(0);
    play.pull(1, { batch_uuid: 'u' });
    play.now += LEASE_MILLISECONDS;
    // The lease expires while another node repeats a request, and takes nothing.
    play.pull(1, { batch_uuid: 'u' });
    expect(play.journal.get(0)!.lease).toBe('expired');
    play.pull(0);
    expect(play.journal.get(0)!.lease).toBe('returned');
    expect([...play.drain(1), ...play.drain(0)]).not.toContain(kept[0]);
  });

  it.each<[until: string, pass: (play: Play) => void]>([
    ['its lease expires', play => (play.now += LEASE_MILLISECONDS - 1)],
    [
      'the lease that it renewed when it asked for the same batch again',
      play => {
        play.now += LEASE_MILLISECONDS - 1;
        expect(play.pull(0, { batch_uuid: 'u' })).toEqual([0]);
        play.now += LEASE_MILLISECONDS - 1;
      },
    ],
    [
      'then, when the clock is set ahead',
      play => {
        play.now += 1000 * LEASE_MILLISECONDS;
        play.clockIsAhead += 1000 * LEASE_MILLISECONDS;
      },
    ],
    [
      'then, while the server is down',
      play => {
        play.now += 100 * LEASE_MILLISECONDS;
        play.readBack();
      },
    ],
  ])('keeps its batch until %s', (_, pass) => {
    const play = new Play();
    expect(play.pull(0, { batch_uuid: 'u' })).toEqual([0]);
    play.pull(1);
    pass(play);
    expect(play.drain(1)).not.toContain(0);
    play.now += LEASE_MILLISECONDS;
    expect(play.drain(1)).toEqual([0]);
  });
});

describe('a batch that was requeued', () => {
  it('stays in the queue when its node asks for it again, and may never get it', () => {
    const play = new Play();
    const batch = play.pull(0, { batch_uuid: 'u' });
    play.pull(1);
    play.now += LEASE_MILLISECONDS;
    play.queue.pull(requestOf({ node_index: 2, wantsLastSplit: true }), play.now);
    expect(play.pull(0, { batch_uuid: 'u' })).toEqual(batch);
    // Then the node dies.
    play.now += 100 * LEASE_MILLISECONDS;
    const rest = [...play.drain(1), ...play.drain(2)];
    const handed = [...rest, ...[...play.journal.values()].filter(({ seq }) => seq > 0).flatMap(({ files }) => files)];
    expect(handed).toContain(batch[0]);
  });

  it('returns to the queue when the next node restarts before it gets it', () => {
    const play = new Play();
    const dead = play.pull(0);
    play.pull(1);
    play.now += LEASE_MILLISECONDS;
    const { batch } = play.queue.pull(requestOf({ node_index: 1, batch_uuid: 'lost' }), play.now)!;
    expect(batch.files).toContain(dead[0]);
    const first = play.pull(1, { isFirstRequest: true, batch_uuid: 'restarted' });
    play.queue.undelivered(batch.seq);
    expect([...first, ...play.drain(1)]).toContain(dead[0]);
  });

  it('is in the queue when its node restarts without a pull', () => {
    const play = new Play();
    const batch = play.pull(0);
    play.queue.restartNode(0);
    expect(play.drain(0)).toContain(batch[0]);
  });
});

describe('a node that restarts in the same build', () => {
  it('gets its unfinished batch first', () => {
    const play = new Play();
    const [lost] = [play.pull(0, { isFirstRequest: true }), play.pull(1)];
    expect(play.pull(0, { isFirstRequest: true })).toEqual(lost);
  });

  it.each(WHEREABOUTS)('may lose that batch to another node, with the queue %s', (_, isReadBack) => {
    const play = new Play();
    const lost = play.pull(0, { isFirstRequest: true });
    expect(play.pull(0, { isFirstRequest: true })).toEqual(lost);
    if (isReadBack) play.readBack();
    expect(play.drain(1)).not.toContain(lost[0]);
    play.now += LEASE_MILLISECONDS;
    expect(play.drain(1)).toEqual(lost);
  });

  it.each(WHEREABOUTS)('gets nothing when every file is done, with the queue %s', (_, isReadBack) => {
    const play = new Play();
    play.drain(0);
    if (isReadBack) play.readBack();
    expect(play.pull(0, { isFirstRequest: true })).toEqual([]);
    play.now += 100 * LEASE_MILLISECONDS;
    expect(play.drain(1)).toEqual([]);
  });
});

describe('a queue with leases', () => {
  it('hands out every file once while no lease expires', () => {
    const play = new Play(3);
    const handed: number[] = [];
    for (let turn = 0, idle = 0; idle < 3; turn++) {
      play.now += LEASE_MILLISECONDS / 4;
      const files = play.pull(turn % 3);
      idle = files.length === 0 ? idle + 1 : 0;
      handed.push(...files);
    }
    expect(sorted(handed)).toEqual(ALL);
  });
});
