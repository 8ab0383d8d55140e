import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { OtlpSpan } from '../../../../src/protocol/answers/timeline.js';
import type { Subject } from '../../../../src/server/insight/subject.js';
import { otlpTrace } from '../../../../src/server/insight/timeline/otlp.js';
import type { Timeline } from '../../../../src/server/insight/timeline/timeline.js';
import { timelines } from '../any-timeline.js';

const build = { commit_hash: 'abc', branch: 'main', node_total: 5 };
const recorded = { id: '5f0c1d52-7f0b-4a7e-9d3c-2f1f0a6b8c11' } as Subject['recorded'];
const subject: Subject = { project: 1, build, recorded, ciRun: null, next: null, ciRuns: [] };

const spansOf = (timeline: Timeline) => otlpTrace(subject, timeline, 'shop').resourceSpans[0]!.scopeSpans[0]!.spans;
const attributeOf = ({ attributes }: OtlpSpan, name: string) => Object.values(attributes.find(({ key }) => key === name)?.value ?? {})[0];

describe('any CI run for a collector', () => {
  const each = (assert: (spans: OtlpSpan[], timeline: Timeline) => void) =>
    fc.assert(fc.property(timelines, timeline => assert(spansOf(timeline), timeline)));

  it('is one tree of spans with ids of their own', () => {
    each(spans => {
      const ids = new Set(spans.map(({ spanId }) => spanId));
      expect(ids.size).toBe(spans.length);
      expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(1);
      for (const { traceId, spanId } of spans) expect(`${traceId} ${spanId}`).toMatch(/^[0-9a-f]{32} [0-9a-f]{16}$/);
      const [root, ...others] = spans;
      expect(root).not.toHaveProperty('parentSpanId');
      for (const { parentSpanId } of others) expect(ids).toContain(parentSpanId);
    });
  });

  it('has spans that lie in their parents, in nanoseconds', () => {
    each(spans => {
      const byId = new Map(spans.map(span => [span.spanId, span]));
      for (const { startTimeUnixNano: start, endTimeUnixNano: end, parentSpanId } of spans) {
        expect(`${start} ${end}`).toMatch(/^\d{19} \d{19}$/);
        expect(BigInt(end)).toBeGreaterThanOrEqual(BigInt(start));
        const around = byId.get(parentSpanId ?? '');
        if (!around) continue;
        // To the microsecond, at which the times of files are rounded.
        expect(BigInt(start) + 1000n).toBeGreaterThanOrEqual(BigInt(around.startTimeUnixNano));
        expect(BigInt(end)).toBeLessThanOrEqual(BigInt(around.endTimeUnixNano) + 1000n);
      }
    });
  });

  it('has a span for each file that was recorded, and none for another', () => {
    each((spans, { nodes }) => {
      const ran = nodes.flatMap(({ spans: own }) => own.flatMap(({ seconds }) => seconds.filter(each => each !== null)));
      expect(spans.filter(span => attributeOf(span, 'test.suite.name') !== undefined)).toHaveLength(ran.length);
    });
  });

  it('tells no result that nobody knows', () => {
    each((spans, { state }) => {
      // No client of these says which files failed.
      for (const span of spans) expect(attributeOf(span, 'test.suite.run.status')).toBeUndefined();
      const result = attributeOf(spans[0]!, 'cicd.pipeline.result');
      expect(result).toBe(({ missing: 'failure', cancelled: 'cancellation' } as Partial<Record<typeof state, string>>)[state]);
      expect(attributeOf(spans[0]!, 'error.type')).toBe(result === 'failure' ? 'files_missing' : undefined);
      expect(spans[0]!.status !== undefined).toBe(result === 'failure');
    });
  });

  it('has only text that UTF-8 can encode, whatever its build is called', () => {
    const [half, odd] = ['\ud83d', '__proto__ \u202e\n"'];
    const ciRun = { id: 'id', ci_run: `x${half}` } as Subject['ciRun'];
    const named: Subject = { ...subject, ciRun, build: { ...build, branch: half + odd, commit_hash: odd + half } };
    const [timeline] = fc.sample(timelines, 1);
    const { attributes } = otlpTrace(named, timeline!, 'shop').resourceSpans[0]!.resource;
    expect(Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]))).toMatchObject({
      'cicd.pipeline.run.id': 'x\ufffd',
      'vcs.ref.head.name': `\ufffd${odd}`,
      'vcs.ref.head.revision': `${odd}\ufffd`,
    });
  });

  it('has the same ids when it is exported again', () => {
    each((spans, timeline) => {
      expect(spansOf(timeline)).toEqual(spans);
    });
  });
});
