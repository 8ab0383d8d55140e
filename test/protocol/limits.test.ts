import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { limits } from '../../src/protocol/limits.js';
import { REFUSED_KINDS, SEEN_CLIENTS } from '../../src/server/api/dashboard/seen.js';
import {
  WAITING_COMPARISONS_PER_PROJECT,
  WAITING_INSIGHTS_PER_PROJECT,
  WAITING_JOBS,
  WAITING_JOBS_PER_PROJECT,
  WAITING_PAGES_PER_PROJECT,
  WAITING_WHAT_IFS_PER_PROJECT,
} from '../../src/server/api/job-runner.js';
import { SPARED_PER_CI_RUN } from '../../src/server/engine/ci-run.js';
import { CI_RUNS_OF_TREE } from '../../src/server/engine/completeness/checkouts.js';
import { memoryBounds } from '../../src/server/engine/memory-bounds.js';
import { READ_CASE_BYTES_PER_REQUEST } from '../../src/server/engine/pieces/known-cases.js';
import {
  PUBLIC_BYTES_PER_DAY,
  PUBLIC_PLANS_PER_DAY,
  PUBLIC_REQUESTS_PER_DAY,
  PUBLIC_TEST_FILES,
  PUBLIC_WAITS,
} from '../../src/server/engine/public-side/allowance.js';
import { WRONG_SIGN_INS_OF_ALL, WRONG_SIGN_INS_PER_ADDRESS } from '../../src/server/engine/sign-in/password.js';
import {
  LINKS_PER_PROJECT,
  OPERATOR_LINK_MILLISECONDS,
  SESSION_DAYS,
  SESSION_IDLE_DAYS,
  SESSIONS_PER_PROJECT,
} from '../../src/server/engine/sign-in/sign-in.js';
import { CUT_CHARACTERS_PER_QUEUE } from '../../src/server/engine/suites/cut-suite.js';
import { POOLED_TEST_FILES } from '../../src/server/engine/suites/plan-suite.js';
import { DRAIN_RECEIVING_SECONDS, DRAIN_SECONDS } from '../../src/server/http/server.js';
import { FAILED_BUILDS, OUTAGES } from '../../src/server/insight/flaky/flaky-files.js';
import { FILES_TO_CUT, PIECES_PER_FILE } from '../../src/server/planning/cutting/cut.js';
import { settings } from '../../src/server/process/settings.js';
import { WAITING_SUMMARIES } from '../../src/server/process/summarizer.js';
import { WAITING_DELIVERIES_PER_PROJECT } from '../../src/server/process/webhook-events.js';
import { SNAPSHOT_RESERVE_BYTES, SNAPSHOT_SECONDS } from '../../src/server/store/lmdb/folder/copy-folder.js';

const MIB = 1_048_576;

it('the limits keep their relations', () => {
  expect(limits.pathMinCharacters).toBeLessThan(limits.pathMaxCharacters);
  expect(POOLED_TEST_FILES).toBeLessThanOrEqual(limits.testFilesPerRequest);
  expect(DRAIN_RECEIVING_SECONDS).toBeLessThanOrEqual(DRAIN_SECONDS);
});

it('the limits are positive whole numbers', () => {
  for (const [name, value] of Object.entries(limits)) {
    expect(Number.isInteger(value) && value > 0, name).toBe(true);
  }
});

const { maxBodyBytes, dailyBytesPerProject } = settings;
/** Each row of the guide, by the beginning of its first cell, with the numbers of its second cell in order. Bytes are those of MiB and KiB. */
const rows: Record<string, number[]> = {
  'nodes of a build': [limits.nodesPerBuild],
  'test files of a request': [limits.testFilesPerRequest],
  'body of a request |': [Number(maxBodyBytes.defaultText), limits.jsonContainersPerBody],
  path: [limits.pathMinCharacters, limits.pathMaxCharacters],
  'commit hash': [limits.textMaxCharacters],
  '`.ballast/muted`': [limits.mutesBytes, limits.mutes],
  'stored runs': [limits.runsPerNode, limits.runsPerNode - 1],
  'characters of the failed test cases': [limits.failedCharactersPerReport],
  'failed test cases that are stored': [limits.failedCasesPerBatch, limits.failedCaseCharactersPerQueue],
  '`GET /build_distributions/last`': [limits.mergedTestFiles, limits.mergedCharacters],
  '`GET /trends/files`': [limits.trendBuilds, limits.trendTestFiles],
  '`GET /flaky`': [FAILED_BUILDS, limits.flakyFiles, OUTAGES],
  'builds that wait for their summary': [WAITING_SUMMARIES],
  'deliveries of one project': [WAITING_DELIVERIES_PER_PROJECT],
  'text of a [setting': [limits.settingMaxCharacters, limits.linkMaxCharacters],
  'request line and headers': [limits.headBytes, limits.headersPerRequest],
  'time for the body': [limits.bodySeconds],
  'bodies and large responses': [memoryBounds.requests],
  'cached large suites': [memoryBounds.suites],
  'large suites that wait': [WAITING_JOBS, WAITING_JOBS_PER_PROJECT],
  'builds of one project that wait for the completeness check': [WAITING_COMPARISONS_PER_PROJECT],
  'requests of one project for timelines': [WAITING_INSIGHTS_PER_PROJECT],
  'sign-in links': [LINKS_PER_PROJECT, LINKS_PER_PROJECT],
  'validity of a link': [OPERATOR_LINK_MILLISECONDS / 60_000, limits.readerLinkDays],
  'sessions of the dashboard': [SESSIONS_PER_PROJECT, SESSIONS_PER_PROJECT],
  'life of a session': [SESSION_IDLE_DAYS, SESSION_DAYS],
  'failed sign-ins': [WRONG_SIGN_INS_PER_ADDRESS, WRONG_SIGN_INS_OF_ALL],
  password: [limits.passwordMinCharacters, limits.passwordMaxCharacters],
  'body of a request of the dashboard': [limits.dashboardBodyBytes],
  'clients, and kinds': [Math.max(SEEN_CLIENTS, REFUSED_KINDS)],
  'numbers of nodes that one request plays': [limits.playedVariants, limits.playedNodes],
  'files that one request plays': [limits.cutFiles],
  'body of a request that sends test cases': [limits.caseReportBytesPerRequest, limits.heartbeatBytesPerRequest],
  'files and pieces in a request': [
    limits.caseReportFilesPerRequest,
    limits.casesPerFile,
    limits.casesPerEntry,
    limits.caseNameMaxCharacters,
    limits.caseCharactersPerFile,
    limits.passedWholePerFile,
  ],
  'long files that a queue': [FILES_TO_CUT, CUT_CHARACTERS_PER_QUEUE, READ_CASE_BYTES_PER_REQUEST, PIECES_PER_FILE],
  'waiting requests of one project': [WAITING_WHAT_IFS_PER_PROJECT],
  'waiting requests of the pages': [WAITING_PAGES_PER_PROJECT],
  'bytes that a project stores': [Number(dailyBytesPerProject.defaultText)],
  'requests with [public tokens]': [PUBLIC_REQUESTS_PER_DAY],
  'bytes of their bodies': [PUBLIC_BYTES_PER_DAY],
  'queues and splits that they create': [PUBLIC_PLANS_PER_DAY],
  'test files of a request with a public token': [PUBLIC_TEST_FILES],
  'requests with public tokens of one project that wait at once': [PUBLIC_WAITS],
  'CI runs that one CI run [proves]': [SPARED_PER_CI_RUN],
  'CI runs of one tree': [CI_RUNS_OF_TREE],
  'free space on the disk': [limits.diskReserveBytes],
  'free space for a [snapshot]': [SNAPSHOT_RESERVE_BYTES],
  'time to copy a snapshot': [SNAPSHOT_SECONDS / 3600],
};

describe('the guide of limits', () => {
  const guide = readFileSync(new URL('../../../src/docs/reference/limits.md', import.meta.url), 'utf8');
  const lines = guide.split('\n').filter(line => line.startsWith('| '));
  const bytesOf: Record<string, number> = { KiB: 1024, MiB: MIB, GiB: 1024 * MIB };
  const numbersIn = (cell: string) =>
    [...cell.matchAll(/(\d[\d,]*)(?: ([KMG]iB))?/g)].map(([, digits, unit]) => Number(digits!.replaceAll(',', '')) * (bytesOf[unit!] ?? 1));

  it.each(Object.entries(rows))('has the limits of "%s" as the program has them', (beginning, numbers) => {
    const [line] = lines.filter(each => each.startsWith(`| ${beginning}`));
    expect(numbersIn(line!.split(' | ')[1]!)).toEqual(numbers);
  });

  it('has no row that is not compared', () => {
    const isCompared = (line: string) => Object.keys(rows).some(beginning => line.startsWith(`| ${beginning}`));
    expect(lines.slice(1).filter(line => !isCompared(line))).toEqual([]);
  });
});
