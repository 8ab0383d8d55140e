import { describe, expect, it } from 'vitest';
import { projectCosts, projectsSentence } from '../../src/dashboard/pages/projects/sentences.js';
import { deletedSentence, serverSentences } from '../../src/dashboard/pages/server/sentences.js';
import type { ServerProcess } from '../../src/protocol/messages/dashboard.js';
import { overviewOf } from '../harness/overview.js';

describe('the first line of the projects', () => {
  it('names those with incomplete builds, most first', () => {
    const web = overviewOf('web-rspec', { builds_today: 41, with_failures_today: 3, running: 2 });
    const api = overviewOf('api-jest', { builds_today: 2, incomplete_today: 1, cancelled_today: 1 });
    const dead = overviewOf('e2e', { builds_today: 2, incomplete_today: 2 });
    expect(projectsSentence([web, api, dead, overviewOf('new')])).toBe(
      '4 projects, 45 builds today, 3 incomplete (e2e, api-jest), 3 with failures, 1 cancelled, 2 running.',
    );
  });

  it('says that there are more than it names', () => {
    const projects = ['a', 'b', 'c', 'd'].map(name => overviewOf(name, { builds_today: 1, incomplete_today: 1 }));
    expect(projectsSentence(projects)).toBe('4 projects, 4 builds today, 4 incomplete (a, b, c, …).');
  });

  it('says that nothing happened today', () => {
    expect(projectsSentence([overviewOf('a')])).toBe('1 project, no build today.');
  });

  it('keeps a name from moving the words around it', () => {
    const sentenceOf = (name: string) => projectsSentence([overviewOf(name, { builds_today: 1, incomplete_today: 1 })]);
    expect(sentenceOf('\u202ea')).toBe('1 project, 1 build today, 1 incomplete (\\u202ea).');
    expect(sentenceOf('\u05d0')).toBe('1 project, 1 build today, 1 incomplete (\u2068\u05d0\u2069).');
  });
});

describe('what projects cost', () => {
  const costOf = (amount: number, currency = 'USD', since = '2026-10-31') => ({
    cost_30_days: { since, price: { amount, currency }, jobs: 656, ci_runs: 42 },
  });
  const now = Date.parse('2026-11-29T08:00:00Z');

  it('is the sum over all projects', () => {
    expect(projectCosts([overviewOf('a', costOf(61.11)), overviewOf('b', costOf(0.5)), overviewOf('new')], now)).toEqual([
      'The last 30 days cost $61.61: 1\u202f312 jobs of 84 CI runs.',
    ]);
  });

  it('is that of the days since the first build, which may be fewer than thirty', () => {
    const young = (since: string) => projectCosts([overviewOf('a', costOf(1, 'USD', since))], now)[0];
    expect(young('2026-11-18')).toMatch(/^The last 12 days cost \$1\.00: /);
    expect(young('2026-11-29')).toMatch(/^The last day cost \$1\.00: /);
  });

  it('is an amount for each currency, and does not speak for projects without a price', () => {
    const recent = { id: 'b', state: 'complete', wall: 1, floor: 1, failed: 0, missing: 0 } as const;
    const projects = [overviewOf('a', costOf(61.11)), overviewOf('b', { recent: [recent] }), overviewOf('c', costOf(3, 'EUR'))];
    expect(projectCosts(projects, now)).toEqual([
      'The last 30 days cost $61.11 and €3.00: 1\u202f312 jobs of 84 CI runs, in 2 projects with a price.',
    ]);
  });

  it('is nothing that a page says without a price, or before the first job', () => {
    const idle = { since: '1970-01-01', price: { amount: 0, currency: 'USD' }, jobs: 0, ci_runs: 0 };
    expect([projectCosts([overviewOf('a')]), projectCosts([overviewOf('a', { cost_30_days: idle })])]).toEqual([[], []]);
  });
});

describe('what a sweep deleted', () => {
  it('is named as people say it', () => {
    expect(deletedSentence({ subset: 1200, queue: 0, ci_run: 3 })).toBe('1\u202f200 recordings, 3 CI runs');
    expect(deletedSentence({ queue: 0 })).toBe('nothing');
  });
});

describe('the first line of the server', () => {
  const line = { status: 422, path: '/v1', reason: 'r', last_at: '', project: null, client: 'c' };
  const ok = { name: 'store', is_ok: true, text: 'reads and writes' };
  const process = (name: string, ...health: ServerProcess['health']) => ({ name, health }) as ServerProcess;
  const web = (...health: ServerProcess['health']) => process('web', ...health);

  it('says that everything works', () => {
    expect(serverSentences({ processes: [web(ok)], refused: [] })).toEqual(['Everything works.']);
  });

  it('names what fails, and counts what could not be used', () => {
    const failing = { name: 'backup', is_ok: false, text: 'the last one is 9 days old' };
    expect(serverSentences({ processes: [web(ok, failing)], refused: [{ ...line, count: 3 }] })).toEqual([
      '1 of 2 checks fails.',
      'Backup: the last one is 9 days old.',
      '3 requests of clients could not be used since the start.',
    ]);
  });

  it('names the process of a check that fails if there are several', () => {
    const silent = { name: 'process', is_ok: false, text: 'not seen for 40 s' };
    expect(serverSentences({ processes: [web(ok), process('web-2:80', silent)], refused: [] })).toEqual([
      '1 of 2 checks fails.',
      'Process of web-2:80: not seen for 40 s.',
    ]);
  });
});
