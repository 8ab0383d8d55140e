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
    expect(files.get('server/engine/queue/queue.ts')?.imports).toContainEqual({
      target: 'server/planning/batching/batch-weight.ts',
      isType: false,
    });
    expect(files.get('server/http/server.ts')?.imports).toContainEqual({ target: 'server/http/connection-limiter.ts', isType: false });
    expect(files.get('server/http/head.ts')?.imports).toContainEqual({ target: 'server/http/api-error.ts', isType: true });
  });

  it('import only files that exist', () => {
    expect(offenders((_, { target }) => isSource(target) && !files.has(target))).toEqual([]);
  });

  it('keep each foreign library of the edges in one folder', () => {
    const homes: Record<string, string> = {
      'uWebSockets.js': 'server/http/uwebsockets',
      'node:http': 'server/http/nodejs',
      'node:https': 'server/http/nodejs',
      lmdb: 'server/store/lmdb',
      msgpackr: 'server/store',
      pg: 'server/store/postgresql',
      piscina: 'server/threads',
      sax: 'node/reports',
      '@streamparser/json': 'node/reports',
    };
    for (const [name, home] of Object.entries(homes)) {
      expect(offenders((path, { target }) => isPackage(target, name) && !isIn(path, home))).toEqual([]);
    }
  });

  it('lock files in one file only', () => {
    expect(offenders((path, { target }) => isPackage(target, 'fs-native-extensions') && path !== 'base/locks.ts')).toEqual([]);
  });

  it('have use cases and planning that need no library but a cache', () => {
    // A digest needs node:crypto, which has no state.
    const isForeign = (target: string) => !isSource(target) && !['node:crypto', 'lru-cache'].includes(target);
    expect(offenders((path, { target }) => isIn(path, 'server/engine', 'server/insight', 'server/planning') && isForeign(target))).toEqual(
      [],
    );
  });

  it('reach a store only through its ports, but for those that open one', () => {
    const openers = ['service', 'worker', 'snapshots', 'snapshot-process'].map(name => `server/process/${name}.ts`);
    expect(
      offenders((path, { target }) => isIn(target, 'server/store') && !isIn(path, 'server/store', 'cli/server') && !openers.includes(path)),
    ).toEqual([]);
  });

  it('are three programs that share a contract, types included', () => {
    const inner: Record<string, string[]> = {
      base: [],
      protocol: ['base'],
      server: ['protocol', 'base'],
      node: ['protocol', 'base'],
      dashboard: ['protocol', 'base'],
      'cli/server': ['cli/process', 'server', 'protocol', 'base'],
      'cli/node': ['cli/process', 'node', 'protocol', 'base'],
      'cli/process': ['base'],
    };
    for (const [folder, others] of Object.entries(inner)) {
      expect(offenders((path, { target }) => isIn(path, folder) && isSource(target) && !isIn(target, folder, ...others))).toEqual([]);
    }
  });

  it('point inward in the server: no folder knows one that uses it, not even its types', () => {
    const inner: Record<string, string[]> = {
      planning: [],
      engine: ['planning'],
      insight: ['engine', 'planning'],
      store: ['engine', 'planning'],
      http: [],
      threads: [],
      api: ['engine', 'insight', 'planning', 'http', 'threads'],
      process: ['api', 'http', 'threads', 'store', 'engine', 'insight', 'planning'],
    };
    for (const [folder, others] of Object.entries(inner)) {
      const allowed = [folder, ...others].map(name => `server/${name}`);
      expect(
        offenders((path, { target }) => isIn(path, `server/${folder}`) && isIn(target, 'server') && !isIn(target, ...allowed)),
      ).toEqual([]);
    }
  });

  it('have pages that need no library but two', () => {
    const libraries = ['preact', 'uplot'];
    const isForeign = (target: string) => !isSource(target) && !libraries.some(name => isPackage(target, name));
    expect(offenders((path, { target }) => isIn(path, 'dashboard') && isForeign(target))).toEqual([]);
  });

  it('have no circle of imports, and those of the edge none of types', () => {
    const done = new Set<string>();
    const circles: string[] = [];
    const visit = (path: string, trail: string[]) => {
      if (trail.includes(path)) circles.push([...trail.slice(trail.indexOf(path)), path].join(' -> '));
      if (done.has(path) || trail.includes(path)) return;
      for (const { target, isType } of files.get(path)?.imports ?? []) {
        if (!isType || isIn(path, 'server/api', 'server/http', 'server/threads', 'server/process')) visit(target, [...trail, path]);
      }
      done.add(path);
    };
    for (const path of files.keys()) visit(path, []);
    expect(circles).toEqual([]);
  });

  it('read the environment nowhere but at the edge', () => {
    const readers = [...files].filter(([, { text }]) => /process\s*\.\s*env\b/.test(withoutComments(text))).map(([path]) => path);
    const runners = ['playwright', 'vitest', 'jest'].map(name => `node/runners/${name}.ts`);
    const allowed = ['cli/program.ts', 'cli/client.ts', ...runners, 'server/http/uwebsockets/load.ts'];
    expect(readers.filter(path => !allowed.includes(path))).toEqual([]);
    // That file tells uWebSockets.js its limit: that is a write.
    const uses = withoutComments(files.get('server/http/uwebsockets/load.ts')!.text).match(/process\.env\S*/g) ?? [];
    expect(uses.filter(use => !use.includes('UWS_'))).toEqual([]);
  });

  it('write to the terminal in one place, which escapes', () => {
    const writes = /\bprocess\.(stdout|stderr)\.write\b|\bconsole\./;
    expect([...files].filter(([, { text }]) => writes.test(withoutComments(text))).map(([path]) => path)).toEqual(['base/terminal.ts']);
  });

  it('have no folder and no file that is named for its kind', () => {
    const vague = /(^|\/)(utils?|helpers?|types|index|common|misc)(\.tsx?$|\/)/;
    expect([...files.keys()].filter(path => vague.test(path))).toEqual([]);
  });
});

describe('the folders beside the sources', () => {
  const root = join(source, '..');
  const outer: Record<string, string[]> = {
    'test/testbed': ['src'],
    bench: ['src', 'test/testbed'],
    scripts: ['src', 'test/testbed'],
    test: ['src', 'scripts'],
    'test/bench': ['src', 'bench', 'test'],
  };

  it.each(Object.entries(outer))('%s imports only itself and %j', (folder, others) => {
    const names = readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).filter(name => name.endsWith('.ts'));
    const paths = names.map(name => posix.join(folder, name.split(sep).join('/')));
    const own = paths.filter(path => folder !== 'test' || !isIn(path, 'test/bench'));
    const wrong = own.flatMap(path =>
      importsOf(path, withoutComments(readFileSync(join(root, path), 'utf8')))
        .filter(({ target }) => isSource(target) && !isIn(target, folder, ...others))
        .map(({ target }) => `${path} -> ${target}`),
    );
    expect(own).not.toEqual([]);
    expect(wrong).toEqual([]);
  });
});
