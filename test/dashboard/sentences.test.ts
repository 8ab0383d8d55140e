import { describe, expect, it } from 'vitest';
import { projectsSentences } from '../../src/dashboard/pages/projects/sentences.js';
import { deletedSentence, serverSentences } from '../../src/dashboard/pages/server/sentences.js';
import type { ServerProcess } from '../../src/protocol/messages/dashboard.js';
import { overviewOf } from '../harness/overview.js';

describe('the first line of the projects', () => {
  it('names those with incomplete builds first', () => {
    const web = overviewOf('web-rspec', { builds_today: 41, median_wall: 492, idle_share: 0.041 });
    const api = overviewOf('api-jest', { builds_today: 2, incomplete_today: 1, median_wall: 60, idle_share: 0 });
    const dead = overviewOf('e2e', { builds_today: 1, incomplete_today: 1, median_wall: 60, idle_share: 0 });
    expect(projectsSentences([web, dead, api, overviewOf('new')])).toEqual([
      '4 projects.',
      'api-jest: one build incomplete, 2 builds today, median 60 s, 0\u202f% idle.',
      'e2e: one build incomplete, 1 build today.',
      'web-rspec: 41 builds today, median 8 m 12 s, 4.1\u202f% idle.',
    ]);
    const cancelled = { builds_today: 2, incomplete_today: 1, cancelled_today: 1, median_wall: 60, idle_share: 0 };
    expect(projectsSentences([overviewOf('web', cancelled)])[1]).toBe('web: one build incomplete, 2 builds today, 1 cancelled.');
  });

  it('says that nothing happened today', () => {
    const recent = [{ id: 'b', state: 'recorded' as const, wall: 1, floor: 1, failed: null, missing: 0 }];
    expect(projectsSentences([overviewOf('a', { recent })])).toEqual(['1 project.', 'No build today.']);
    expect(projectsSentences([overviewOf('a')])).toEqual(['1 project.']);
  });

  it('keeps a name from moving the words around it', () => {
    expect(projectsSentences([overviewOf('\u202ea', { running: 1 })])[1]).toBe('\\u202ea: 1 running.');
    expect(projectsSentences([overviewOf('\u05d0', { running: 1 })])[1]).toBe('\u2068\u05d0\u2069: 1 running.');
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
