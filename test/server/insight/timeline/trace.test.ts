import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { TraceEvent } from '../../../../src/protocol/answers/timeline.js';
import type { Subject } from '../../../../src/server/insight/subject.js';
import { traceAnswer } from '../../../../src/server/insight/timeline/trace.js';
import { timelines } from '../any-timeline.js';

const build = { commit_hash: 'abc', branch: 'main', node_total: 5 };
const subject: Subject = { project: 1, build, recorded: null, ciRun: null, next: null, ciRuns: [] };

/** Complete events that begin in another one of their thread and end after it. Of those that begin together, the first contains the others. */
function overlaps(events: readonly TraceEvent[]): TraceEvent[] {
  const around: TraceEvent[] = [];
  const end = ({ ts, dur }: TraceEvent) => ts + dur!;
  return events
    .toSorted((a, b) => a.ts - b.ts)
    .filter(event => {
      while (around.length > 0 && end(around.at(-1)!) <= event.ts) around.pop();
      const outer = around.at(-1);
      around.push(event);
      return outer !== undefined && end(event) > end(outer);
    });
}

describe('the trace of any build follows the trace event format', () => {
  const each = (assert: (events: TraceEvent[]) => void) =>
    fc.assert(fc.property(timelines, timeline => assert(traceAnswer(subject, timeline).traceEvents)));

  it('with times and durations in whole microseconds from its start', () => {
    each(events => {
      for (const { ph, ts, dur } of events) {
        expect([ts, dur ?? 0].every(micros => Number.isSafeInteger(micros) && micros >= 0)).toBe(true);
        expect(dur !== undefined).toBe(ph === 'X');
      }
    });
  });

  it('with a name and a place for each thread, and none that is taken for the main one', () => {
    each(events => {
      const named = events.filter(({ name }) => name === 'thread_name').map(({ tid }) => tid);
      const sorted = events.filter(({ name }) => name === 'thread_sort_index').map(({ tid, args }) => [tid, args.sort_index]);
      expect(events[0]).toMatchObject({ ph: 'M', name: 'process_name', args: { name: 'main abc' } });
      expect(sorted).toEqual(named.map(tid => [tid, tid]));
      for (const { ph, pid, tid } of events) if (ph === 'X') expect(named.includes(tid) && tid !== pid).toBe(true);
      expect(new Set(events.map(({ pid }) => pid)).size).toBe(1);
    });
  });

  it('with complete events that lie in each other, or apart', () => {
    each(events => {
      const complete = events.filter(({ ph }) => ph === 'X');
      for (const node of new Set(complete.map(({ tid }) => tid))) expect(overlaps(complete.filter(({ tid }) => tid === node))).toEqual([]);
    });
  });

  it('with a counter that never grows, of numbers only', () => {
    each(events => {
      const left = events.filter(({ ph }) => ph === 'C').map(({ args }) => args.seconds as number);
      expect(left.every((seconds, i) => Number.isFinite(seconds) && seconds >= 0 && seconds <= (left[i - 1] ?? Infinity))).toBe(true);
    });
  });
});
