import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { temporaryFolder } from '../../harness/temporary-folder.js';

/** Without the variables and the configuration of whoever runs the tests. */
export const environment: NodeJS.ProcessEnv = {
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('GIT_'))),
  ...{ GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_SYSTEM: '/dev/null' },
};
const settings = [
  'user.name=a',
  'user.email=a@example.com',
  'init.defaultBranch=main',
  'protocol.file.allow=always',
  'advice.detachedHead=false',
];

export interface Repository {
  folder: string;
  git(...args: string[]): string;
  write(path: string, text: string): void;
  commit(...paths: string[]): void;
}

/** The repository of a folder, which may be still to be made. */
export function at(folder: string): Repository {
  const git = (...args: string[]) =>
    execFileSync('git', [...settings.flatMap(setting => ['-c', setting]), ...args], {
      cwd: folder,
      env: environment,
      stdio: 'pipe',
      encoding: 'utf8',
    });
  return {
    folder,
    git,
    write(path, text) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), text);
    },
    commit(...paths) {
      git('add', ...(paths.length > 0 ? paths : ['-A']));
      git('commit', '-q', '-m', 'change');
    },
  };
}

/** A repository with one commit. */
export function repository(...options: string[]): Repository {
  const made = at(temporaryFolder());
  made.git('init', '-q', ...options);
  made.write('src/a.js', 'a\n');
  made.write('src/b.js', 'b\n');
  made.write('docs/guide.md', 'guide\n');
  made.write('.gitignore', 'ignored*\n');
  made.commit();
  return made;
}
