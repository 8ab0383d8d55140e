/** The characters of the names of all these test cases, of each name once. */
export function charactersIn(cases: readonly { name: string }[]): number {
  let characters = 0;
  for (const name of new Set(cases.map(({ name }) => name))) characters += name.length;
  return characters;
}
