/** The characters of the names of all these test cases. */
export function charactersIn(cases: readonly { name: string }[]): number {
  return cases.reduce((sum, { name }) => sum + name.length, 0);
}
