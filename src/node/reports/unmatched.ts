import { abbreviate } from '../../base/terminal.js';
import { findFile } from './find-file.js';
import type { ListedFiles } from './known-files.js';
import type { TestCase } from './test-case.js';

const MAX_NAMES = 3;
const MAX_CHARACTERS = 200;

/** Describes, for messages, by which names test cases were looked for in vain, what the list has instead, and which name could be several. */
export function describeUnmatched(cases: readonly TestCase[], list: ListedFiles): string {
  const names = new Set(cases.flatMap(namesOf));
  const several = firstAmbiguous(cases, list);
  return [
    namesText([...names]),
    `the list has ${namesText(list.paths)}`,
    ...(several === null ? [] : [`${quote(several.name)} could be ${namesText(several.paths)}`]),
  ].join('; ');
}

/** The names by which a file is looked for. */
function namesOf({ file, suite, classname, name }: TestCase): string[] {
  const names = [file ?? '', suite.name, classname].filter(text => text !== '');
  return names.length > 0 ? names : [name];
}

/** Returns the first name that matches several paths; null: there is none. */
function firstAmbiguous(cases: readonly TestCase[], list: ListedFiles): { name: string; paths: string[] } | null {
  let several: { name: string; paths: string[] } | null = null;
  const look = (name: string, paths: string[]) => {
    if (paths.length > 1) several ??= { name, paths };
    return paths.length === 1 ? paths[0]! : null;
  };
  for (const testCase of cases) {
    findFile(testCase, { find: name => look(name, list.matches(name)), findName: name => look(name, list.matchesOfName(name)) });
    if (several !== null) break;
  }
  return several;
}

function namesText(names: readonly string[]): string {
  return abbreviate(names.map(quote), MAX_NAMES);
}

function quote(name: string): string {
  return JSON.stringify(name.length > MAX_CHARACTERS ? `${name.slice(0, MAX_CHARACTERS)}...` : name);
}
