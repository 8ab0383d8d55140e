import { describe, expect, it } from 'vitest';
import type { Batch, Pull } from '../../../../src/server/engine/queue/batch.js';
import { Queue } from '../../../../src/server/engine/queue/queue.js';
import { NOW, requestOf } from './requests.js';

const SECOND = 1000;
const FILES = 60;
const CLIENT: Partial<Pull> = { heartbeats: true, acknowledges: true, retriesFailed: true };

const NOT_RETRYING = { retriesFailed: undefined } as unknown as Partial<Pull>;

/** A queue whose nodes retry failed files, with its journal. A file takes a second. */
class Play {
  now = NOW;
  readonly journal = new Map<number, Batch>();
  queue: Queue;

  constructor(
    readonly nodeTotal: number,
    readonly client = CLIENT,
    readonly files = FILES,
    readonly silenceMilliseconds = 90 * SECOND,
  ) {
    this.queue = this.#newQueue();
  }

  #newQueue(): Queue {
    const batches = [...this.journal.values()].map(batch => structuredClone(batch));
    const parameters = { nodeTotal: this.nodeTotal, pullCost: 0, isGuessed: false };
    return new Queue(new Float64Array(this.files).fill(10_000), parameters, batches, {
      silenceMilliseconds: this.silenceMilliseconds,
      factor: 0,
      graceMilliseconds: 0,
      uptime: () => this.now,
      uptimeAt: () => this.now,
    });
  }

  /** Starts the server again. */
  readBack(): void {
    this.queue = this.#newQueue();
  }

  /** Pulls, and returns the batch; null: there is none. */
  pull(node: number, overrides: Partial<Pull> = {}): Batch | null {
    const handed = this.queue.pull(requestOf({ node_index: node, ...this.client, ...overrides }), this.now);
    for (const changed of this.queue.takeChanged()) this.#note(changed);
    if (!handed) return null;
    this.queue.delivered(handed.batch.seq);
    this.#note(handed.batch);
    return handed.batch;
  }

  /** Ends a batch of a node. A file that `hung` has no time. */
  end({ node_index, seq, files }: Batch, failed: readonly number[] = [], hung: readonly number[] = []): void {
    this.now += SECOND * files.length;
    const all = [...failed, ...hung];
    const told = { failed: files.filter(file => all.includes(file)) };
    const seconds = files.map(file => (hung.includes(file) ? 0 : 1));
    const ended = this.queue.acknowledge({ node_index, batch_uuid: 'next' }, seq, told, seconds);
    if (ended) this.#note({ ...ended, times: seconds.map(each => 1000 * each) });
  }

  /** A node runs all files that are left, until it has none or waits. Returns the files that it retried. */
  drain(node: number, failing: readonly number[] = [], hanging: readonly number[] = []): number[] {
    const retried: number[] = [];
    for (let batch = this.pull(node); batch; batch = this.pull(node)) {
      if (batch.retry) retried.push(...batch.files);
      const among = (some: readonly number[]) => batch!.files.filter(file => some.includes(file));
      this.end(batch, among(failing), among(hanging));
    }
    return retried;
  }

  /** The leases of silent nodes end, while node 0 is heard of. */
  silence(): void {
    for (let passed = 0; passed <= 90; passed += 15) {
      this.now += 15 * SECOND;
      this.queue.heartbeat(0, 'run-1');
    }
  }

  #note(batch: Batch): void {
    const { times } = this.journal.get(batch.seq) ?? {};
    this.journal.set(batch.seq, structuredClone({ ...batch, times: batch.times ?? times }));
  }
}

/** Two nodes have the last files, of which the first one of node 0 failed. */
function played(client = CLIENT): { play: Play; file: number; other: Batch } {
  const play = new Play(2, client);
  const [first, other] = [play.pull(0)!, play.pull(1)!];
  const file = first.files[0]!;
  play.end(first, [file]);
  for (let batch = play.pull(0); batch && !batch.retry; batch = play.pull(0)) play.end(batch);
  return { play, file, other };
}

describe('a file that failed', () => {
  it('runs once more on the node that is free first, and its own node waits for that', () => {
    const play = new Play(3);
    const batches = [play.pull(0)!, play.pull(1)!, play.pull(2)!];
    const file = batches[0]!.files[0]!;
    play.end(batches[0]!, [file]);
    play.end(batches[1]!);
    let retry: Batch | null = null;
    for (let batch = play.pull(1); batch; batch = play.pull(1)) {
      if (batch.retry) retry = batch;
      if (batch.retry) break;
      play.end(batch);
    }
    expect(retry).toMatchObject({ files: [file], node_index: 1 });
    play.end(batches[2]!);
    play.drain(2);
    expect([play.drain(0), play.queue.standsBy(0), play.queue.passedAgain(0)]).toEqual([[], true, []]);
    play.end(retry!);
    expect([play.pull(1), play.pull(0), play.queue.standsBy(0), play.queue.passedAgain(0)]).toEqual([null, null, false, [file]]);
    expect([play.queue.passedAgain(1), play.queue.passedAgain(2)]).toEqual([[], []]);
  });

  it('runs again on its own node if no other one is free', () => {
    const { play, file, other } = played();
    const retry = [...play.journal.values()].at(-1)!;
    expect(retry).toMatchObject({ retry: true, files: [file], node_index: 0 });
    play.end(retry);
    expect(play.pull(0)).toBeNull();
    expect(play.queue.passedAgain(0)).toEqual([file]);
    play.end(other);
    expect(play.drain(1)).toEqual([]);
  });

  it('runs on its own node once more if that is started again before the retry has ended', () => {
    const { play, file } = played();
    expect(play.pull(0, { run: 'run-2', isFirstRequest: true })).toMatchObject({ files: [file], isReplay: true });
  });

  it('runs again when its node, on which its retry passed, is started again', () => {
    const { play, file } = played();
    play.end([...play.journal.values()].at(-1)!);
    expect(play.pull(0, { run: 'run-2', isFirstRequest: true })).toMatchObject({ isReplay: true, files: [file] });
  });

  it('is left to a node that stands by', () => {
    const play = new Play(3);
    const batches = [play.pull(0)!, play.pull(1)!, play.pull(2)!];
    play.end(batches[1]!);
    play.drain(1);
    expect(play.queue.standsBy(1)).toBe(true);
    const file = batches[0]!.files[0]!;
    play.end(batches[0]!, [file]);
    expect([play.pull(0), play.queue.standsBy(0)]).toEqual([null, true]);
    expect(play.pull(1)).toMatchObject({ retry: true, files: [file] });
  });

  it('is not retried where leases never end: nobody would notice that the node of the retry died', () => {
    const play = new Play(2, CLIENT, FILES, Infinity);
    const [first, other] = [play.pull(0)!, play.pull(1)!];
    play.end(first, [first.files[0]!]);
    play.end(other);
    expect([play.drain(1), play.drain(0), play.queue.standsBy(0)]).toEqual([[], [], false]);
  });

  it('is not left to a node that stands by and retries nothing', () => {
    const play = new Play(3);
    const batches = [play.pull(0)!, play.pull(1, NOT_RETRYING), play.pull(2)!];
    play.end(batches[1]!);
    for (let batch = play.pull(1, NOT_RETRYING); batch; batch = play.pull(1, NOT_RETRYING)) play.end(batch);
    expect(play.queue.standsBy(1)).toBe(true);
    const file = batches[0]!.files[0]!;
    play.end(batches[0]!, [file]);
    expect(play.pull(0)).toMatchObject({ retry: true, files: [file] });
  });

  it.each([
    ['once only', (play: Play, file: number) => play.drain(1, [file])],
    ['not when it hung, or could not be loaded', null],
  ])('is retried %s', (_, again) => {
    const play = new Play(2);
    const [first, other] = [play.pull(0)!, play.pull(1)!];
    const file = first.files[0]!;
    play.end(first, again ? [file] : [], again ? [] : [file]);
    play.end(other);
    expect(again ? again(play, file) : play.drain(1)).toEqual(again ? [file] : []);
    expect([play.drain(0), play.queue.standsBy(0), play.queue.passedAgain(0), play.pull(1)]).toEqual([[], false, [], null]);
  });

  it('is not retried beside ten others, or beside another one if both are more than a twentieth of the work', () => {
    const play = new Play(2, CLIENT, 1000);
    const [first, other] = [play.pull(0)!, play.pull(1)!];
    play.end(first, first.files.slice(0, 11));
    play.end(other);
    expect([play.drain(1), play.drain(0), play.queue.standsBy(0)]).toEqual([[], [], false]);
    const small = new Play(2, CLIENT, 30);
    const [one, two] = [small.pull(0)!, small.pull(1)!];
    small.end(one, [one.files[0]!]);
    small.end(two, [two.files[0]!]);
    expect([small.drain(1), small.drain(0)]).toEqual([[], []]);
  });

  it('is retried on no node whose client does not say that it retries', () => {
    const { retriesFailed: _, ...old } = CLIENT;
    const { play, other } = played(old);
    play.end(other);
    expect([play.drain(1), play.queue.standsBy(0)]).toEqual([[], false]);
  });
});

describe('the retry of a file', () => {
  const retried = () => {
    const play = new Play(3);
    const batches = [play.pull(0)!, play.pull(1)!, play.pull(2)!];
    const file = batches[0]!.files[0]!;
    for (const batch of batches.slice(1)) play.end(batch);
    play.end(batches[0]!, [file]);
    let retry = play.pull(1)!;
    while (!retry.retry) {
      play.end(retry);
      retry = play.pull(1)!;
    }
    play.drain(0);
    play.drain(2);
    expect(retry).toMatchObject({ node_index: 1, files: [file] });
    return { play, file, retry };
  };
  const WAITS = [null, true];

  it('goes to another node when its node is silent', () => {
    const { play, file } = retried();
    expect([play.pull(0), play.queue.standsBy(0)]).toEqual(WAITS);
    play.silence();
    const again = play.pull(2)!;
    expect(again).toMatchObject({ retry: true, files: [file] });
    expect([play.pull(0), play.queue.standsBy(0)]).toEqual(WAITS);
    play.end(again);
    expect([play.pull(2), play.pull(0), play.queue.standsBy(0), play.queue.passedAgain(0)]).toEqual([null, null, false, [file]]);
  });

  it('goes back to the node on which the file failed when all others have died', () => {
    const { play, file } = retried();
    play.silence();
    expect(play.pull(0)).toMatchObject({ retry: true, files: [file] });
  });

  it.each([
    ['is cancelled', (play: Play) => play.queue.cancel({ node_index: 1, run: 'run-1' }, null, play.now)],
    ['starts again', (play: Play) => play.pull(1, { run: 'run-2', isFirstRequest: true })],
    ['left before the answer', null],
  ])('goes to another node when its node %s', (_, leave) => {
    const { play, file, retry } = retried();
    if (leave) leave(play);
    else {
      retry.delivered = false;
      play.queue.undelivered(retry.seq);
    }
    const next = leave && play.journal.get(retry.seq)!.lease === 'restarted' ? [...play.journal.values()].at(-1)! : play.pull(2)!;
    expect(next).toMatchObject({ retry: true, files: [file], isReplay: false });
  });

  it('counts when its node comes back with the result', () => {
    const { play, file, retry } = retried();
    play.silence();
    play.pull(0);
    play.end(retry);
    play.pull(1);
    play.end([...play.journal.values()].at(-1)!);
    expect(play.queue.passedAgain(0)).toEqual([file]);
  });

  it('has failed when one of two nodes that ran it says so', () => {
    const { play, retry, file } = retried();
    play.silence();
    const again = play.pull(2)!;
    play.end(retry, [file]);
    play.end(again);
    expect([play.pull(1), play.pull(2), play.pull(0), play.queue.standsBy(0), play.queue.passedAgain(0)]).toEqual([
      null,
      null,
      null,
      false,
      [],
    ]);
  });

  it.each(['waiting', 'running', 'passed', 'failed'])('is known after a restart of the server when it is %s', state => {
    const { play, file, retry } = retried();
    if (state === 'waiting') play.silence();
    if (state === 'passed') play.end(retry);
    if (state === 'failed') play.end(retry, [file]);
    if (state === 'waiting') play.pull(2);
    play.readBack();
    const open = state === 'waiting' || state === 'running';
    expect([play.pull(0), play.queue.standsBy(0), play.queue.passedAgain(0)]).toEqual([null, open, state === 'passed' ? [file] : []]);
  });

  it('is not needed when the node was started again, and the file passed', () => {
    const play = new Play(2);
    const [first, other] = [play.pull(0)!, play.pull(1)!];
    play.end(first, [first.files[0]!]);
    play.end(play.pull(0, { run: 'run-2', isFirstRequest: true })!);
    play.end(other);
    expect([play.drain(1), play.drain(0)]).toEqual([[], []]);
  });
});
