import { spawn, spawnSync } from 'node:child_process';
import { dirname } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll } from 'vitest';

const plugin = fileURLToPath(new URL('../../../src/ballast_pytest.py', import.meta.url));
const isUsable = (python: string) => spawnSync(python, ['-c', 'import sys; assert sys.version_info >= (3, 8)']).status === 0;
const python = ['python3', '/usr/bin/python3'].find(isUsable);

const READ = `
import json, sys, unittest.mock
sys.modules['pytest'] = unittest.mock.MagicMock()
import ballast_pytest
for line in sys.stdin:
    print(json.dumps(ballast_pytest.read_tree(*json.loads(line))), flush=True)
`;

type TreeOfPython = [tree: string | null, folder: string, why: string | null];

/** Starts the plugin of pytest, which reads trees by the same rules. Null: there is no Python for it. */
export function startPython(): ((folder: string, environment: NodeJS.ProcessEnv, seconds?: number) => Promise<TreeOfPython>) | null {
  if (!python) return null;
  const env = { ...process.env, PYTHONPATH: dirname(plugin), PYTHONDONTWRITEBYTECODE: '1' };
  const child = spawn(python, ['-c', READ], { env, stdio: ['pipe', 'pipe', 'inherit'] });
  afterAll(() => void child.stdin.end());
  const answers = createInterface(child.stdout)[Symbol.asyncIterator]();
  return async (...asked) => {
    child.stdin.write(`${JSON.stringify(asked.filter(each => each !== undefined))}\n`);
    return JSON.parse((await answers.next()).value as string) as TreeOfPython;
  };
}
