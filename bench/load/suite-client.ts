import { setTimeout as sleep } from 'node:timers/promises';
import { Connections, expectAnswer } from './connections.js';
import { FILES_IN_ANSWER } from './messages.js';
import { initializeTemplate, type ListKind, type PlanKind, planPaths, recordAll, recordSome } from './suite-bodies.js';
import { answerMessages } from './worker-messages.js';

/** A worker process, the only client of an idle server: it records all paths, or measures initialisations. */

export type SuiteQuestion =
  | { verb: 'record'; url: string; files: number }
  | {
      verb: 'initialize';
      url: string;
      what: PlanKind;
      files: number;
      nodes: number;
      list: ListKind;
      from: number;
      times: number;
      records: boolean;
    }
  | { verb: 'parse'; what: PlanKind; files: number; nodes: number; list: ListKind; times: number };

answerMessages<SuiteQuestion, number[]>(async question => {
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

/** Milliseconds between a recording and an initialisation: nodes of other builds record all the time. */
const AFTER_RECORDING = 150;

/** Milliseconds from sending each body to receiving its answer. */
async function timed(connections: Connections, { what, files, nodes, list, from, times, records }: SuiteQuestion & { verb: 'initialize' }) {
  const template = initializeTemplate(what, files, nodes, list);
  const milliseconds: number[] = [];
  for (let round = from; round < from + times; round++) {
    if (records) {
      await recordSome(connections, files, round);
      await sleep(AFTER_RECORDING);
    }
    const answer = await connections.post(planPaths[what], template.body(round));
    expectAnswer(answer, 200, FILES_IN_ANSWER);
    milliseconds.push(answer.milliseconds);
  }
  return milliseconds;
}

/** Milliseconds that JSON.parse takes for each body. */
function parsed({ what, files, nodes, list, times }: SuiteQuestion & { verb: 'parse' }): number[] {
  const template = initializeTemplate(what, files, nodes, list);
  return Array.from({ length: times }, (_, round) => {
    const text = template.body(round).toString();
    const from = performance.now();
    JSON.parse(text);
    return performance.now() - from;
  });
}
