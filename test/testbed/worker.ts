import { type ChildProcess, fork } from 'node:child_process';
import { killAtExit, terminate } from './cleanup.js';
import { ask } from './worker-messages.js';

/** A worker process: a program that answers messages with `answerMessages`. */
export class Worker<Question extends object, Answer> {
  readonly child: ChildProcess;

  /** @param program path of the compiled file, relative to the project's root */
  constructor(program: `${string}.js`) {
    this.child = killAtExit(fork(new URL(`../../${program}`, import.meta.url)));
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
