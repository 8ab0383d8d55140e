import { get } from './operation.js';
import { response } from './responses.js';

export const trendOperations = {
  '/v1/build_summaries': get({
    operationId: 'listBuildSummaries',
    tag: 'Trends',
    summary: 'List builds with a summary of each, newest first.',
    description:
      'A summary is written some seconds after a run of the build was recorded. CI runs that have begun and recorded nothing come first, on the first page only. With `failed=true` a request searches 500 builds; `searched_to` and `next` tell how to go on.',
    query: 'BuildLinesQuery',
    responses: { '200': response('A part of the list.', { schemas: ['BuildLines'] }) },
  }),
  '/v1/trends/builds': get({
    operationId: 'getBuildTrend',
    tag: 'Trends',
    summary: 'Get wall time, idle time and savings of a branch by day or week.',
    description: 'A build counts on the day on which its newest CI run began. Days without builds are left out. At most 400 days.',
    query: 'BuildTrendQuery',
    responses: { '200': response('The days, oldest first.', { schemas: ['BuildTrend'] }) },
  }),
  '/v1/trends/files': get({
    operationId: 'listFileTrends',
    tag: 'Trends',
    summary: 'List the files of a branch over its last 100 builds.',
    description:
      'A suite so large that 100 builds have more than 6,000,000 recorded times is read over fewer builds. `growth` and `spread` sort by seconds, not by factors, so that files that cost most come first.',
    query: 'FileTrendsQuery',
    responses: { '200': response('A part of the files.', { schemas: ['FileTrends'] }) },
  }),
  '/v1/trends/files/history': get({
    operationId: 'getFileHistory',
    tag: 'Trends',
    summary: 'Get the times of a file in the last 100 builds of a branch.',
    description:
      'With the estimate before each build and the builds in which its duration changed. No points: the branch has not recorded it.',
    query: 'FileHistoryQuery',
    responses: { '200': response('The history, oldest build first.', { schemas: ['FileHistory'] }) },
  }),
  '/v1/trends/nodes': get({
    operationId: 'getNodeTrends',
    tag: 'Trends',
    summary: 'Find nodes that are slow again and again.',
    description: 'Over the last 100 builds with the same number of nodes.',
    query: 'NodeTrendsQuery',
    responses: { '200': response('The nodes by index.', { schemas: ['NodeTrends'] }) },
  }),
};
