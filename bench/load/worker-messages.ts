/** What a worker process returns for each message. */
export type Reply<Answer> = { answer: Answer } | { error: string };

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
