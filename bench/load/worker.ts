import { type ChildProcess, fork } from 'node:child_process';
import type { Reply } from './answering.js';
import { killAtExit, terminate } from './cleanup.js';
import { compiled } from './compiled.js';

/** Sends a child a message; resolves with its answer. */
export async function ask<Answer>(child: ChildProcess, question: object): Promise<Answer> {
  const reply = new Promise<Reply<Answer>>((resolve, reject) => {
    const ended = () => reject(new Error(`a process of the bench ended with ${child.exitCode ?? child.signalCode}`));
    const answered = (message: unknown) => {
      child.off('exit', ended);
      resolve(message as Reply<Answer>);
    };
    child.once('exit', ended).once('message', answered);
    // It may have ended before.
    child.send(question, error => error && ended());
  });
  const result = await reply;
  if ('error' in result) throw new Error(result.error);
  return result.answer;
}

/** A program, by its path from the project's root, that answers each message with one: see answering.ts. */
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
