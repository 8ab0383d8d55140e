/** The caller must change the arguments, the environment or the files. Exit code 2. */
export class UsageError extends Error {
  readonly exitCode = 2;

  constructor(readonly errors: readonly string[]) {
    super(errors.join('; '));
  }
}
