import { type ChildProcess, fork } from 'node:child_process';
import { killAtExit, terminate } from './cleanup.js';
import { compiled } from './compiled.js';
import type { Reply } from './worker-messages.js';

/** Sends a message to a worker process. Resolves with its answer. */
export async function ask<Answer>(child: ChildProcess, question: object): Promise<Answer> {
  const reply = new Promise<Reply<Answer>>((resolve, reject) => {
    const ended = () => reject(new Error(`a worker process exited before it answered, with ${child.exitCode ?? child.signalCode}`));
    const answered = (message: unknown) => {
      child.off('exit', ended);
      resolve(message as Reply<Answer>);
    };
    child.once('exit', ended).once('message', answered);
    // The process may have exited before.
    child.send(question, error => error && ended());
  });
  const result = await reply;
  if ('error' in result) throw new Error(result.error);
  return result.answer;
}

/** A worker process: a program, named from the project's root on, that answers messages with answerMessages.ts. */
export class Worker<Question extends object, Answer> {
  readonly child: ChildProcess;

  constructor(script: `${string}.js`) {
    this.child = killAtExit(fork(compiled(script)));
  }

  get pid(): number {
    return this.child.pid!;
  }

  ask<A extends Answer>(question: Question): Promise<A> {
    return ask<A>(this.child, question);
  }

  stop(): Promise<void> {
    return terminate(this.child);
  }
}
