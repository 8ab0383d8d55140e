/** What a person has to change about a call: exit code 2. */
export class UsageError extends Error {
  readonly exitCode = 2;

  constructor(readonly complaints: readonly string[]) {
    super(complaints.join('; '));
  }
}
