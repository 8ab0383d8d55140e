import type { ChildProcess } from 'node:child_process';

/** Reply of a worker process to each message. */
type Reply<Answer> = { answer: Answer } | { error: string };

/** Makes this process a worker: it answers each message of its parent, and exits with it. See `Worker`. */
export function answerMessages<Question, Answer>(work: (question: Question) => Promise<Answer>): void {
  process.on('message', (question: Question) => {
    work(question).then(
      answer => process.send!({ answer } satisfies Reply<Answer>),
      (error: unknown) => process.send!({ error: (error as Error).message } satisfies Reply<Answer>),
    );
  });
  process.on('disconnect', () => process.exit());
}

/** Sends a message to a worker process. Resolves with its answer. */
export async function ask<Answer>(child: ChildProcess, question: object): Promise<Answer> {
  const reply = await new Promise<Reply<Answer>>((resolve, reject) => {
    const onExit = () => reject(new Error(`a worker process exited before it answered, with ${child.exitCode ?? child.signalCode}`));
    const onMessage = (message: unknown) => {
      child.off('exit', onExit);
      resolve(message as Reply<Answer>);
    };
    child.once('exit', onExit).once('message', onMessage);
    // The process may have exited before.
    child.send(question, error => error && onExit());
  });
  if ('error' in reply) throw new Error(reply.error);
  return reply.answer;
}
