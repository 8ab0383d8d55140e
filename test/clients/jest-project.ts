import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import type { Client } from '../harness/client.js';
import { temporaryFolder } from '../harness/temporary-folder.js';

const packages = fileURLToPath(new URL('../../../node_modules/', import.meta.url));

export interface NodeRun {
  code: number | null;
  /** Test files in the order in which they ran. */
  ran: string[];
  output: string;
}

/** A project whose tests write to $RAN and fail if they are in $FAILING. */
export class JestProject {
  // Jest resolves links.
  readonly #folder = realpathSync(temporaryFolder());
  readonly files: readonly string[];

  constructor(count: number) {
    mkdirSync(join(this.#folder, '__tests__'));
    const settings = { testEnvironment: 'node', transform: {}, cacheDirectory: join(this.#folder, 'cache') };
    writeFileSync(join(this.#folder, 'package.json'), JSON.stringify({ name: 'made-up', jest: settings }));
    this.files = Array.from({ length: count }, (_, i) => `__tests__/${i}.test.js`);
    for (const file of this.files) this.#write(file);
  }

  /** Makes a file fail to load. */
  breakFile(number: number): void {
    this.#write(this.files[number]!, "require('./not-there');");
  }

  repairFile(number: number): void {
    this.#write(this.files[number]!);
  }

  #write(file: string, before = ''): void {
    const note = `require('node:fs').appendFileSync(process.env.RAN, ${JSON.stringify(`${file}\n`)});`;
    const check = `expect((process.env.FAILING ?? '').split(',')).not.toContain(${JSON.stringify(file)});`;
    writeFileSync(join(this.#folder, file), `${before}\ntest('one', () => { ${note} ${check} });\n`);
  }

  /** Runs a node of a CI build with the program of a client package. */
  async run(client: string, server: Client, env: Record<string, string>): Promise<NodeRun> {
    const ran = join(temporaryFolder(), 'ran');
    writeFileSync(ran, '');
    const child = spawn(process.execPath, [join(packages, client, 'lib/knapsack-pro-jest.js'), '--runInBand'], {
      cwd: this.#folder,
      env: {
        PATH: process.env.PATH,
        RAN: ran,
        KNAPSACK_PRO_ENDPOINT: server.url,
        KNAPSACK_PRO_TEST_SUITE_TOKEN_JEST: server.token,
        KNAPSACK_PRO_TEST_FILE_PATTERN: '__tests__/**/*.test.js',
        KNAPSACK_PRO_USER_SEAT: 'Somebody',
        ...env,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text: string) => (output += text));
    const [code] = (await once(child, 'close')) as [number | null];
    return { code, output, ran: readFileSync(ran, 'utf8').split('\n').slice(0, -1) };
  }
}
