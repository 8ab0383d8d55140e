import { type Soon, whenKnown } from '../../../base/soon.js';
import { limits } from '../../../protocol/limits.js';
import type { TestCasesAnswer } from '../../../protocol/messages/cases.js';
import type { Answer, Request } from '../../http/request.js';
import type { Context } from '../context.js';
import { post } from '../endpoint.js';
import { json } from '../json.js';
import { example, response } from '../openapi/responses.js';
import { prepare } from '../prepare.js';

function keepCases(context: Context, request: Request): Soon<Answer> {
  const { store, now, dailyBytes } = context;
  return whenKnown(prepare(context, 'prepareCases', request), async ({ project, prepared: encoded }) => {
    dailyBytes.assertRoom(project, now());
    await store.cases.keep(project, encoded, now());
    dailyBytes.add(project, encoded.reports.bytes.length, now());
    return json(200, { kept: encoded.places.length } satisfies TestCasesAnswer);
  });
}

export const testCases = post('/v2/test_cases', keepCases, {
  bodyBytes: limits.caseReportBytesPerRequest,
  operationId: 'tellTestCases',
  tag: 'Queue mode',
  isOpenToPublic: true,
  summary: 'Tell the test cases of long or failed files, and their times.',
  description:
    'A later queue can then have such a file in pieces, each with some of its cases, if the request that creates the queue names the same test runner in pieces. A report on a file replaces earlier reports on it. The verdict of a build names the cases that failed.',
  body: {
    schemas: ['TestCasesMessage'],
    example: {
      ...example.node,
      ci_build_id: '1',
      runner: 'pytest',
      files: [{ path: 'tests/test_cart.py', seconds: 41.5, cases: [{ name: 'test_total', seconds: 12.25, outcome: 'passed' }] }],
    },
  },
  responses: {
    '200': response('The number of files and pieces whose cases are kept.', { schemas: ['TestCasesAnswer'], example: { kept: 1 } }),
  },
});
