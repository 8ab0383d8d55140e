import { describe, expect, it } from 'vitest';
import type { Batch, Pull } from '../../../src/engine/queue/batch.js';
import { Queue } from '../../../src/engine/queue/queue.js';

const NOW = Date.UTC(2026, 0, 1);
const MINUTE = 60_000;
/** Files of 10 s each, and batches of one. */
const FILES = 6;
/** 3 times 10 s, and a minute. */
const LEASE_MILLISECONDS = 90_000;

/** A queue whose journal is kept, and a clock. */
class Play {
  /** By a clock that may be set. */
  now = NOW;
  clockIsAhead = 0;
  readonly journal = new Map<number, Batch>();
  queue: Queue;

  constructor(readonly nodeTotal = 100) {
    this.queue = this.#newQueue();
  }

  #newQueue(): Queue {
    const outlook = { nodeTotal: this.nodeTotal, pullCost: 0, isGuessed: false };
    const batches = [...this.journal.values()].map(batch => structuredClone(batch));
    return new Queue(new Float64Array(FILES).fill(100_000), outlook, batches, {
      factor: 3,
      graceMilliseconds: MINUTE,
      uptime: () => this.now - this.clockIsAhead,
      // The server started when the queue was read back.
      uptimeAt: () => this.now - this.clockIsAhead,
    });
  }

  pull(node_index: number, given: Partial<Pull> = {}): number[] {
    const request = {
      node_index,
      run: 'run',
      batch_uuid: null,
      isRetry: false,
      isFirstRequest: false,
      wantsLastSplit: false,
      recordedSubset: null,
      hasLeft: () => false,
    };
    const handed = this.queue.pull({ ...request, ...given }, this.now);
    for (const batch of [...this.queue.takeChanged(), ...(handed?.isNew ? [handed.batch] : [])])
      this.journal.set(batch.seq, structuredClone(batch));
    if (handed) this.queue.delivered(handed.batch.seq);
    return handed?.batch.files ?? [];
  }

  /** All that the node is handed until the end. */
  drain(node_index: number): number[] {
    const files: number[] = [];
    for (let batch = this.pull(node_index); batch.length > 0; batch = this.pull(node_index)) files.push(...batch);
    return files;
  }

  readBack(): void {
    for (const batch of this.journal.values()) batch.delivered = true;
    this.queue = this.#newQueue();
  }
}

const sorted = (files: readonly number[]) => [...files].sort((a, b) => a - b);
const ALL = [0, 1, 2, 3, 4, 5];

describe('a node that is silent beyond its lease', () => {
  it.each([
    ['as it goes', false],
    ['read back meanwhile', true],
  ])('loses its batch to another, %s', (_, isReadBack) => {
    const play = new Play();
    const [lost, first] = [play.pull(0), play.pull(1)];
    expect([lost.length, first.length]).toEqual([1, 1]);
    if (isReadBack) play.readBack();
    play.pull(1);
    play.now += LEASE_MILLISECONDS;
    // It comes first.
    expect(play.pull(1)).toEqual(lost);
    expect(play.journal.get(0)!.lease).toBe('expired');
    if (isReadBack) play.readBack();
    expect(play.drain(1)).not.toContain(lost[0]);
  });

  it('keeps it a moment before', () => {
    const play = new Play();
    const kept = play.pull(0);
    play.pull(1);
    play.now += LEASE_MILLISECONDS - 1;
    expect(play.drain(1)).not.toContain(kept[0]);
  });

  it('loses it when nothing else is left, too', () => {
    const play = new Play();
    const lost = play.pull(0);
    const others = play.drain(1);
    expect(sorted([...lost, ...others])).toEqual(ALL);
    play.now += LEASE_MILLISECONDS;
    expect(play.drain(1)).toEqual(lost);
  });

  it('loses it once: who has it then keeps it', () => {
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

  it('goes on when it comes back after its batch went to another', () => {
    const play = new Play();
    const own = play.pull(0);
    play.now += LEASE_MILLISECONDS;
    // Another's pull finds it silent, and is handed what it had.
    expect(play.pull(2)).toContain(own[0]);
    expect(play.pull(0)).not.toContain(own[0]);
    expect(play.journal.get(0)!.lease).toBe('returned');
    play.readBack();
    expect([...play.drain(0), ...play.drain(2)]).not.toContain(own[0]);
  });

  it('keeps what nobody took of two batches when it comes back', () => {
    const play = new Play();
    const [own, second] = [play.pull(0), play.pull(1)];
    play.now += LEASE_MILLISECONDS;
    // Both are found silent, and one batch is handed on.
    const handedOn = play.pull(2);
    expect([own, second]).toContainEqual(handedOn);
    const [first, kept] = handedOn[0] === own[0] ? [0, second] : [1, own];
    play.pull(1 - first);
    expect(play.journal.get(1 - first)!.lease).toBe('returned');
    const rest = [...play.drain(2), ...play.drain(1 - first)];
    expect(rest).not.toContain(kept[0]);
  });

  it('is heard of when it asks for the same batch again', () => {
    const play = new Play();
    const kept = play.pull(0, { batch_uuid: 'u' });
    play.pull(1);
    play.now += LEASE_MILLISECONDS - 1;
    expect(play.pull(0, { batch_uuid: 'u' })).toEqual(kept);
    play.now += LEASE_MILLISECONDS - 1;
    expect(play.drain(1)).not.toContain(kept[0]);
  });

  it('is not silent because the clock was set ahead', () => {
    const play = new Play();
    const kept = play.pull(0);
    play.pull(1);
    play.now += 1000 * LEASE_MILLISECONDS;
    play.clockIsAhead += 1000 * LEASE_MILLISECONDS;
    expect(play.drain(1)).not.toContain(kept[0]);
    play.now += LEASE_MILLISECONDS;
    expect(play.drain(1)).toEqual(kept);
  });

  it('is not to blame for a server that was away', () => {
    const play = new Play();
    const kept = play.pull(0);
    play.now += 100 * LEASE_MILLISECONDS;
    play.readBack();
    expect(play.drain(1)).not.toContain(kept[0]);
    play.now += LEASE_MILLISECONDS;
    expect(play.drain(1)).toEqual(kept);
  });
});

describe('a batch that went to others', () => {
  it('stays there when its node asks for it again, which may never get it', () => {
    const play = new Play();
    const own = play.pull(0, { batch_uuid: 'u' });
    play.pull(1);
    play.now += LEASE_MILLISECONDS;
    play.queue.pull(
      {
        node_index: 2,
        run: 'run',
        batch_uuid: null,
        isRetry: false,
        isFirstRequest: false,
        wantsLastSplit: true,
        recordedSubset: null,
        hasLeft: () => false,
      },
      play.now,
    );
    expect(play.pull(0, { batch_uuid: 'u' })).toEqual(own);
    // Then it dies.
    play.now += 100 * LEASE_MILLISECONDS;
    const rest = [...play.drain(1), ...play.drain(2)];
    const handed = [...rest, ...[...play.journal.values()].filter(({ seq }) => seq > 0).flatMap(({ files }) => files)];
    expect(handed).toContain(own[0]);
  });

  it('is there again when the node that it went to begins anew before it got it', () => {
    const play = new Play();
    const dead = play.pull(0);
    play.pull(1);
    play.now += LEASE_MILLISECONDS;
    const request = {
      node_index: 1,
      run: 'run',
      batch_uuid: null,
      isRetry: false,
      isFirstRequest: false,
      wantsLastSplit: false,
      recordedSubset: null,
      hasLeft: () => false,
    };
    const { batch } = play.queue.pull({ ...request, batch_uuid: 'lost on its way' }, play.now)!;
    expect(batch.files).toContain(dead[0]);
    const anew = play.pull(1, { isFirstRequest: true, batch_uuid: 'anew' });
    play.queue.undelivered(batch.seq);
    expect([...anew, ...play.drain(1)]).toContain(dead[0]);
  });

  it('was not done when its node begins anew and takes nothing yet', () => {
    const play = new Play();
    const own = play.pull(0);
    play.queue.restartNode(0);
    expect(play.drain(0)).toContain(own[0]);
  });
});

describe('a node that begins anew under the same build', () => {
  it('has lost what it had not done, and gets it first', () => {
    const play = new Play();
    const [lost] = [play.pull(0, { isFirstRequest: true }), play.pull(1)];
    expect(play.pull(0, { isFirstRequest: true })).toEqual(lost);
  });

  it.each([
    ['as it goes', false],
    ['read back meanwhile', true],
  ])('may be silent then: what it had goes to another, %s', (_, isReadBack) => {
    const play = new Play();
    const lost = play.pull(0, { isFirstRequest: true });
    expect(play.pull(0, { isFirstRequest: true })).toEqual(lost);
    if (isReadBack) play.readBack();
    expect(play.drain(1)).not.toContain(lost[0]);
    play.now += LEASE_MILLISECONDS;
    expect(play.drain(1)).toEqual(lost);
  });

  it.each([
    ['as it goes', false],
    ['read back meanwhile', true],
  ])('gets nothing when all was done, %s', (_, isReadBack) => {
    const play = new Play();
    play.drain(0);
    if (isReadBack) play.readBack();
    expect(play.pull(0, { isFirstRequest: true })).toEqual([]);
    play.now += 100 * LEASE_MILLISECONDS;
    expect(play.drain(1)).toEqual([]);
  });
});

describe('a queue with leases', () => {
  it('hands every file out once while nobody is silent', () => {
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
