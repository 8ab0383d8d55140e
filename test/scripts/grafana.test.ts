import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { record, subsetMessage } from '../harness/messages.js';
import { SharedServer } from '../harness/server.js';

interface Panel {
  id: number;
  type: string;
  title: string;
  gridPos: { x: number; y: number; w: number; h: number };
  datasource?: object;
  targets?: { expr: string; datasource: object }[];
}

const text = readFileSync(new URL('../../../scripts/deploy/grafana/ballast.json', import.meta.url), 'utf8');
const { panels, templating } = JSON.parse(text) as {
  panels: Panel[];
  templating: { list: { name: string; type: string; definition?: string }[] };
};
const expressions = [
  ...panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr)),
  ...templating.list.flatMap(each => each.definition ?? []),
];

const shared = new SharedServer();

/** The names of a text of Prometheus, with those of the series of a histogram. */
function namesIn(metrics: string): string[] {
  return [...metrics.matchAll(/^# TYPE (\S+) (\S+)$/gm)].flatMap(([, name, type]) =>
    type === 'histogram' ? ['bucket', 'sum', 'count'].map(suffix => `${name}_${suffix}`) : [name!],
  );
}

describe('the dashboard for Grafana', () => {
  it('asks only for metrics that the server and a project have', async () => {
    await record(shared, subsetMessage({ node_total: 1 }));
    await shared.summarize();
    const [ofServer, ofProject] = await Promise.all(['/metrics', '/v1/metrics'].map(async path => namesIn((await shared.get(path)).text)));
    expect([ofServer!.length > 50, ofProject!.length > 10]).toEqual([true, true]);
    const known = new Set([...ofServer!, ...ofProject!]);
    const asked = new Set(expressions.flatMap(each => each.match(/\b(?:ballast|nodejs|process)_\w+/g) ?? []));
    expect(asked.size).toBeGreaterThan(30);
    // No client of that build reports failures.
    expect([...asked].filter(name => !known.has(name))).toEqual(['ballast_project_last_build_failed_files']);
    const shown = ofProject!.filter(name => !asked.has(name));
    expect(shown).toEqual([]);
  });

  it('has the data source and each choice as a variable', () => {
    expect(templating.list[0]).toMatchObject({ name: 'datasource', type: 'datasource', query: 'prometheus' });
    const names = templating.list.map(({ name }) => name);
    const used = new Set(text.match(/\$\{?([a-z]+)\b/g)?.map(each => each.replace(/\W/g, '')));
    expect([...used].sort()).toEqual(names.toSorted());
    for (const { datasource, targets = [] } of panels)
      for (const each of [datasource, ...targets.map(target => target.datasource)].filter(Boolean))
        expect(each).toEqual({ type: 'prometheus', uid: expect.stringMatching(/^\$\{datasource\}$/) });
  });

  it('has panels with ids of their own that do not overlap', () => {
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
    for (const [i, { gridPos: a, title }] of panels.entries()) {
      expect(a.x + a.w, title).toBeLessThanOrEqual(24);
      for (const { gridPos: b } of panels.slice(i + 1))
        expect(a.x >= b.x + b.w || b.x >= a.x + a.w || a.y >= b.y + b.h || b.y >= a.y + a.h, title).toBe(true);
    }
  });
});
