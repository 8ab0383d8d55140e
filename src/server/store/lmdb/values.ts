import type { KeptValues, Values } from '../../engine/ports/values.js';
import { endSessionsOfPassword } from './sign-ins.js';
import type { Tables } from './tables.js';
import { type Committing, commit } from './writes/commit.js';

export function lmdbValues(parts: Pick<Tables, 'values' | 'sessions'> & Committing) {
  const { values } = parts;
  return {
    get: <Name extends keyof KeptValues>(name: Name) => (values.get(name) as KeptValues[Name] | undefined) ?? null,
    async add<Name extends keyof KeptValues>(name: Name, value: KeptValues[Name]) {
      await commit(parts, () => void (values.doesExist(name) || values.put(name, value)));
      return values.get(name) as KeptValues[Name];
    },
    put: (name, value) =>
      commit(parts, () => {
        if (name === 'password') endSessionsOfPassword(parts);
        if (value === null) void values.remove(name);
        else void values.put(name, value);
      }),
  } satisfies Values;
}
