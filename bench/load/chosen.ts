/** The entries of these names; without a name: all. Throws if there is none of a name. */
export function chosenOf<T>(what: string, names: readonly string[], all: Readonly<Record<string, T>>): [string, T][] {
  const unknown = names.find(name => !Object.hasOwn(all, name));
  if (unknown !== undefined) throw new Error(`there is no ${what} "${unknown}": choose from ${Object.keys(all).join(', ')}`);
  return names.length === 0 ? Object.entries(all) : names.map(name => [name, all[name]!]);
}
