/** A fault in something that the caller gave, and the advice what to do. */
export interface Fault {
  what: string;
  remedy: string;
}

/** Says both in one sentence. */
export const faultText = ({ what, remedy }: Fault): string => `${what}: ${remedy}`;

/** The caller must change the arguments, the environment or the files. Exit code 2. */
export class UsageError extends Error {
  readonly exitCode = 2;

  constructor(readonly errors: readonly string[]) {
    super(errors.join('; '));
  }
}
