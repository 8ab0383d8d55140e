/** The distinct paths of a suite, sorted by UTF-16 code units. */
export interface Paths {
  readonly length: number;
  /** Some may name test cases in files. */
  readonly hasCases: boolean;
  at(file: number): string;
  /** The first and the last + 1 of those that begin with a text. */
  beginningWith(text: string): [from: number, to: number];
}
