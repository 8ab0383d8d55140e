import { answering } from './answering.js';
import { Connections, check } from './connections.js';
import { FILES_IN_ANSWER } from './messages.js';
import { type Initialized, initialized, initializing, recordAll } from './suite-bodies.js';

/** A worker process, the only client of an idle server: it records all paths, or measures initialisations. */

export type SuiteQuestion =
  | { verb: 'record'; url: string; files: number }
  | { verb: 'initialize'; url: string; what: Initialized; files: number; nodes: number; from: number; times: number }
  | { verb: 'parse'; what: Initialized; files: number; nodes: number; times: number };

answering<SuiteQuestion, number[]>(async question => {
  const { verb, files } = question;
  if (verb === 'parse') return parsed(question);
  const connections = new Connections(question.url, 1);
  try {
    if (verb === 'record') await recordAll(connections, files);
    return verb === 'record' ? [] : await timed(connections, question);
  } finally {
    connections.close();
  }
});

/** Milliseconds from sending each body to receiving its answer. */
async function timed(connections: Connections, { what, files, nodes, from, times }: SuiteQuestion & { verb: 'initialize' }) {
  const template = initializing(what, files, nodes);
  const milliseconds: number[] = [];
  for (let round = from; round < from + times; round++) {
    const answer = await connections.post(initialized[what], template.of(round));
    check(answer, 200, FILES_IN_ANSWER);
    milliseconds.push(answer.milliseconds);
  }
  return milliseconds;
}

/** Milliseconds that JSON.parse takes for each body. */
function parsed({ what, files, nodes, times }: SuiteQuestion & { verb: 'parse' }): number[] {
  const template = initializing(what, files, nodes);
  return Array.from({ length: times }, (_, round) => {
    const text = template.of(round).toString();
    const from = performance.now();
    JSON.parse(text);
    return performance.now() - from;
  });
}
