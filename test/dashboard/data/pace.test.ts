import { expect, it } from 'vitest';
import { agedTimeline } from '../../../src/dashboard/data/aged.js';
import { waitAfter } from '../../../src/dashboard/data/pace.js';
import { AGE_HEADER } from '../../../src/protocol/answers/build-head.js';
import type { TimelineAnswer } from '../../../src/protocol/answers/timeline.js';
import { Clock } from '../../harness/clock.js';
import { initialise, manyPaths, pull } from '../../harness/messages.js';
import { SharedServer, testsWith } from '../../harness/server.js';

const clock = new Clock();
const shared = new SharedServer({}, { now: clock.now });
const run = testsWith(shared);
const NODES = 300;

run(
  'a page of a large build that runs loads half a megabyte in a minute in which nothing happens, and tells what does',
  async ({ server }) => {
    const of = (node_index: number) => ({ node_total: NODES, node_index });
    await initialise(server, manyPaths(20_000), of(0));
    for (let node = 0; node < NODES; node++) await pull(server, of(node));
    const { id } = (await shared.store.ciRuns.list(server.id, clock.now() + 1, 10))[0]!;

    /** What a page does in a minute, by the clock of the test. Returns its bytes, and its last whole answer. */
    async function minute(name: string, least: number, known: { tag: string; data: any } | null) {
      let [bytes, requests, unchanged] = [0, 0, 0];
      for (const end = clock.now() + 60_000; clock.now() < end; requests++) {
        const reply = await server.get(`/v1/builds/${id}/${name}`, known ? { 'If-None-Match': known.tag } : {});
        const size = Number(reply.headers.get('content-length'));
        bytes += size;
        if (reply.status === 200) {
          known = { tag: reply.headers.get('etag')!, data: reply.json };
          unchanged = 0;
        } else unchanged++;
        clock.advance({ milliseconds: Math.round(1000 * waitAfter(least, { bytes: size, seconds: 0 }, unchanged)) });
      }
      return { known, bytes, requests };
    }

    const first = await minute('timeline', 2, null);
    expect(first.known!.data.paths).toHaveLength(20_000);
    const quiet = await minute('timeline', 2, first.known);
    expect(quiet).toEqual({ known: first.known, bytes: 0, requests: 11 });
    const others = [await minute('minutes', 2, null), await minute('forecast', 5, null)];
    expect(first.bytes + others[0]!.bytes + others[1]!.bytes).toBeLessThan(500_000);

    // The page moves the nodes at work as the server would. The floor is drawn when the build has ended.
    const path = `/v1/builds/${id}/timeline`;
    const { headers } = await server.get(path, { 'If-None-Match': first.known!.tag });
    const aged = agedTimeline(first.known!.data, Number(headers.get(AGE_HEADER)));
    expect((await server.get(path)).json).toMatchObject({
      ...aged,
      floor: expect.any(Number),
      ended_at: expect.any(String),
    } as TimelineAnswer);

    await pull(server, of(7));
    const changed = await minute('timeline', 2, first.known);
    expect(changed.known!.data.nodes[7].spans).toHaveLength(2);
  },
);

it('the wait grows with the bytes and the time of a whole answer, and with the times that it still held', () => {
  const small = { bytes: 1000, seconds: 0.01 };
  expect(waitAfter(2, small, 0)).toBe(2);
  expect(waitAfter(2, { bytes: 1_000_000, seconds: 0.5 }, 0)).toBe(50);
  expect(waitAfter(2, { bytes: 1000, seconds: 1 }, 0)).toBe(20);
  expect([1, 2, 3, 100].map(unchanged => waitAfter(2, small, unchanged))).toEqual([3, 4.5, 6, 6]);
  expect(waitAfter(10, small, 5)).toBe(10);
});
