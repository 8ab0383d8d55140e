import { getOfBuild, type Query } from './operation.js';
import { mergeResponses, response } from './responses.js';

interface CiRunOperation extends Omit<Query, 'tag' | 'query' | 'responses'> {
  query?: string;
  /** The name of the answer's type. */
  answer: string;
  /** What the answer has. */
  what: string;
}

const getOfCiRun = ({ query = 'CiRunQuery', answer, what, ...description }: CiRunOperation) =>
  getOfBuild({
    ...description,
    tag: 'Insight',
    query,
    responses: { ...mergeResponses, '200': response(what, { schemas: [answer] }) },
  });

export const insightOperations = {
  '/v1/builds/{id}/minutes': getOfCiRun({
    operationId: 'divideMinutes',
    summary: 'Get where the wall time of a build went.',
    description: 'The id of a CI run serves too, also while nothing is recorded. The parts add up to the wall time exactly.',
    answer: 'MinutesAnswer',
    what: 'The parts of the wall time, and the nodes, files and sentences that explain them.',
  }),
  '/v1/builds/{id}/timeline': getOfCiRun({
    operationId: 'readTimeline',
    summary: 'Get what each node did, and when.',
    description: 'Files are columns, and batches refer to them by index.',
    answer: 'TimelineAnswer',
    what: 'The lanes of the nodes.',
  }),
  '/v1/builds/{id}/forecast': getOfCiRun({
    operationId: 'readForecast',
    summary: 'Get what was expected of a build when it was planned.',
    description: 'A 404 also means that no split and no queue of the build is known.',
    answer: 'ForecastAnswer',
    what: 'The expected duration, the bound, and what the build took.',
  }),
  '/v1/builds/{id}/trace': getOfCiRun({
    operationId: 'traceBuild',
    summary: 'Get a build as a trace for Perfetto or DevTools.',
    description: 'A thread for each node. The files of a batch follow one another, because only their durations are known.',
    answer: 'TraceAnswer',
    what: 'Chrome trace events.',
  }),
  '/v1/builds/{id}/why': getOfCiRun({
    operationId: 'explainBuild',
    summary: 'Explain why each node got its files.',
    description: 'Each batch, or part of a split, with what was known when it was handed out.',
    answer: 'WhyAnswer',
    what: 'The hand-outs in the order of time.',
    query: 'WhyQuery',
  }),
};
