import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, posix, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

// Tests run in dist/test: the sources lie beside dist.
const source = fileURLToPath(new URL('../../src', import.meta.url));

interface Import {
  /** A package, or a file from src/ on. */
  target: string;
  isType: boolean;
}

interface SourceFile {
  text: string;
  imports: Import[];
}

/** Comments and strings that look like code are none; no source needs more than this. */
const withoutComments = (text: string) => text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/^\s*\/\/.*$/gm, '');

/** The source of a compiled file: only the dashboard has .tsx. */
const sourceOf = (path: string) => path.replace(/\.js$/, existsSync(join(source, path.replace(/\.js$/, '.tsx'))) ? '.tsx' : '.ts');

function importsOf(path: string, text: string): Import[] {
  const imports: Import[] = [];
  const add = (specifier: string, isType: boolean) => {
    const isFile = specifier.startsWith('.');
    const target = isFile ? sourceOf(posix.join(dirname(path), specifier)) : specifier;
    imports.push({ target, isType });
  };
  for (const [, kind, names = '', specifier] of text.matchAll(/^(?:import|export)\s+(type\s+)?(?:([\w*$\s{},]+?)\s+from\s+)?'([^']+)'/gm)) {
    const inner = /^\{([\s\S]*)\}$/
      .exec(names.trim())?.[1]
      ?.split(',')
      .map(name => name.trim())
      .filter(Boolean);
    add(specifier!, kind !== undefined || (inner?.every(name => name.startsWith('type ')) ?? false));
  }
  for (const [, before, specifier] of text.matchAll(/(await\s+|typeof\s+|)\bimport\('([^']+)'\)/g)) {
    add(specifier!, before!.trim() !== 'await');
  }
  for (const [, specifier] of text.matchAll(/new URL\('(\.[^']+\.js)', import\.meta\.url\)/g)) add(specifier!, false);
  return imports;
}

const files = new Map<string, SourceFile>();
for (const name of readdirSync(source, { recursive: true, encoding: 'utf8' })) {
  if (!/\.tsx?$/.test(name)) continue;
  const path = relative(source, join(source, name)).split(sep).join('/');
  const text = readFileSync(join(source, name), 'utf8');
  files.set(path, { text, imports: importsOf(path, withoutComments(text)) });
}

/** "importer -> target" of all imports that the rule forbids. */
const offenders = (isForbidden: (path: string, imported: Import) => boolean) =>
  [...files].flatMap(([path, { imports }]) =>
    imports.filter(imported => isForbidden(path, imported)).map(({ target }) => `${path} -> ${target}`),
  );

const isIn = (path: string, ...folders: string[]) => folders.some(folder => path.startsWith(`${folder}/`));
const isSource = (target: string) => /\.tsx?$/.test(target);
const isPackage = (target: string, name: string) => target === name || target.startsWith(`${name}/`);

describe('the sources', () => {
  it('are found, with their imports', () => {
    expect(files.size).toBeGreaterThan(30);
    expect(files.get('engine/queue/queue.ts')?.imports).toContainEqual({ target: 'planning/batching/batch-weight.ts', isType: false });
    expect(files.get('http/server.ts')?.imports).toContainEqual({ target: 'http/connection-limiter.ts', isType: false });
    expect(files.get('http/head.ts')?.imports).toContainEqual({ target: 'http/api-error.ts', isType: true });
  });

  it('import only files that exist', () => {
    expect(offenders((_, { target }) => isSource(target) && !files.has(target))).toEqual([]);
  });

  it('keep each foreign library of the edges in one folder', () => {
    const homes: Record<string, string> = {
      'uWebSockets.js': 'http/uwebsockets',
      'node:http': 'http/node',
      'node:https': 'http/node',
      lmdb: 'store/lmdb',
      msgpackr: 'store',
      pg: 'store/postgresql',
      piscina: 'threads',
      sax: 'reports',
      '@streamparser/json': 'reports',
    };
    for (const [name, home] of Object.entries(homes)) {
      expect(offenders((path, { target }) => isPackage(target, name) && !isIn(path, home))).toEqual([]);
    }
  });

  it('lock files in one file only', () => {
    expect(offenders((path, { target }) => isPackage(target, 'fs-native-extensions') && path !== 'locks.ts')).toEqual([]);
  });

  it('have use cases and planning that need no library but a cache', () => {
    // A digest needs node:crypto, which has no state.
    const isForeign = (target: string) => !isSource(target) && !['node:crypto', 'lru-cache'].includes(target);
    expect(offenders((path, { target }) => isIn(path, 'engine', 'planning') && isForeign(target))).toEqual([]);
  });

  it('reach a store only through its ports, but for those that open one', () => {
    const openers = ['service', 'worker', 'snapshots', 'snapshot-process'].map(name => `server/${name}.ts`);
    expect(offenders((path, { target }) => isIn(target, 'store') && !isIn(path, 'store', 'cli') && !openers.includes(path))).toEqual([]);
  });

  it('keep the messages of the protocol apart from what they ask for', () => {
    expect(offenders((path, { target }) => isIn(path, 'api/messages') && isIn(target, 'engine', 'planning'))).toEqual([]);
  });

  it('point inward: no folder knows one that uses it, not even its types', () => {
    // What each folder may use besides itself. A client shares the types of messages and of answers with the server.
    const inner: Record<string, string[]> = {
      planning: [],
      engine: ['planning', 'api/messages'],
      store: ['engine', 'planning'],
      http: [],
      threads: [],
      api: ['engine', 'planning', 'http', 'threads'],
      reports: ['engine', 'planning', 'api/messages'],
      client: ['reports', 'planning', 'api/messages', 'engine/insight', 'engine/completeness'],
      runners: ['client', 'reports'],
      import: ['client', 'reports', 'api/messages'],
      dashboard: ['api/messages', 'engine/insight', 'engine/completeness'],
      server: ['api', 'http', 'threads', 'store', 'engine', 'planning'],
    };
    const isOutside = (path: string, target: string) => {
      const folder = path.split('/')[0]!;
      return inner[folder] !== undefined && isSource(target) && target.includes('/') && !isIn(target, folder, ...inner[folder]);
    };
    expect(offenders((path, { target }) => isOutside(path, target))).toEqual([]);
    expect(
      offenders((path, { target, isType }) => isIn(path, 'client', 'import', 'runners') && isIn(target, 'api', 'engine') && !isType),
    ).toEqual([]);
  });

  it('have a dashboard that shares only types with the server, and how builds end, and how durations, prices and links are written', () => {
    const libraries = ['preact', 'uplot'];
    const isForeign = (target: string) => !isSource(target) && !libraries.some(name => isPackage(target, name));
    const isShared = ({ target, isType }: Import) =>
      ['duration.ts', 'price.ts', 'link-template.ts', 'piece-path.ts', 'engine/insight/build-state.ts'].includes(target) ||
      (isType && (target === 'project-settings.ts' || isIn(target, 'api/messages', 'engine/insight', 'engine/completeness')));
    expect(
      offenders(
        (path, imported) =>
          isIn(path, 'dashboard') &&
          !isIn(imported.target, 'dashboard') &&
          !isShared(imported) &&
          (isSource(imported.target) || isForeign(imported.target)),
      ),
    ).toEqual([]);
    expect(offenders((path, { target }) => isIn(target, 'dashboard') && !isIn(path, 'dashboard'))).toEqual([]);
  });

  it('have no circle of imports, and those of the edge none of types', () => {
    const done = new Set<string>();
    const circles: string[] = [];
    const visit = (path: string, trail: string[]) => {
      if (trail.includes(path)) circles.push([...trail.slice(trail.indexOf(path)), path].join(' -> '));
      if (done.has(path) || trail.includes(path)) return;
      for (const { target, isType } of files.get(path)?.imports ?? []) {
        if (!isType || isIn(path, 'api', 'http', 'threads', 'server')) visit(target, [...trail, path]);
      }
      done.add(path);
    };
    for (const path of files.keys()) visit(path, []);
    expect(circles).toEqual([]);
  });

  it('read the environment nowhere but at the edge', () => {
    const readers = [...files].filter(([, { text }]) => /process\s*\.\s*env\b/.test(withoutComments(text))).map(([path]) => path);
    const runners = ['playwright', 'vitest', 'jest'].map(name => `runners/${name}.ts`);
    const allowed = ['cli/program.ts', 'cli/client.ts', ...runners, 'http/uwebsockets/load.ts'];
    expect(readers.filter(path => !allowed.includes(path))).toEqual([]);
    // That file tells uWebSockets.js its limit: that is a write.
    const uses = withoutComments(files.get('http/uwebsockets/load.ts')!.text).match(/process\.env\S*/g) ?? [];
    expect(uses.filter(use => !use.includes('UWS_'))).toEqual([]);
  });

  it('write to the terminal in one place, which escapes', () => {
    const writes = /\bprocess\.(stdout|stderr)\.write\b|\bconsole\./;
    expect([...files].filter(([, { text }]) => writes.test(withoutComments(text))).map(([path]) => path)).toEqual(['terminal.ts']);
  });

  it('have no folder and no file that is named for its kind', () => {
    const vague = /(^|\/)(utils?|helpers?|types|index|common|misc)(\.tsx?$|\/)/;
    expect([...files.keys()].filter(path => vague.test(path))).toEqual([]);
  });
});
