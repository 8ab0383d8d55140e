import { spawnSync } from 'node:child_process';
import { setFlagsFromString } from 'node:v8';
import { type Config } from '../config.js';
import { openLog } from '../log.js';
import { openService } from '../service.js';
import { storeFileOf } from '../store/open.js';

/** Serves until SIGTERM or SIGINT, then drains. */
export async function serve(config: Config): Promise<void> {
  // V8 would take what requests in flight hold for long-lived and allocate its kind in the old heap at once: half of the
  // garbage then stays for long, and each collection takes 5 ms instead of 0.5.
  setFlagsFromString('--no-allocation-site-pretenuring');
  const log = openLog(config.logLevel);
  // lmdb leaves a rejection behind when a commit fails (a full disk); whoever waited for it was told.
  process.on('unhandledRejection', err => log.error({ err }, 'unhandled rejection'));
  expectWhole(config.dataDir);
  const service = await openService(config, log).catch((error: unknown) => {
    const { message } = error as Error;
    if (message.startsWith('cannot ')) throw error;
    throw new Error(`cannot serve ${config.dataDir}: ${message}; should its store be damaged, "ballast check" tells more, and a backup helps`, { cause: error });
  });
  let stopping = false;
  const stop = (signal: string) => {
    if (stopping) return;
    stopping = true;
    log.info({ signal }, 'draining');
    service.close().then(
      () => process.exit(0),
      (err: unknown) => {
        log.fatal({ err }, 'could not close');
        process.exit(1);
      },
    );
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);

  // Printed last: whoever reads the address may stop the server at once.
  if (service.firstToken) {
    const headers = config.headerPrefixes.map(prefix => `${prefix}-TEST-SUITE-TOKEN`);
    process.stdout.write(
      `Made the project "default". Its test-suite token, shown only now:\n${service.firstToken}\n` +
        `Clients send it as ${headers.join(' or ')}.\n`,
    );
  }
  if (service.adminUrl) process.stdout.write(`Metrics are at ${service.adminUrl}/metrics\n`);
  process.stdout.write(`Ballast listens on ${service.url} (data in ${config.dataDir})\n`);
}

/** Throws when the store's file was cut off: reading what is not there would end the process without a word. */
function expectWhole(dataDir: string): void {
  const file = storeFileOf(dataDir);
  if (!file || file.bytes >= file.expectedBytes) return;
  // Rarely it is only that its last pages are free: another process reads all of it.
  const [node, program] = process.argv as [string, string];
  const { status } = spawnSync(node, [program, 'check', '--data-dir', dataDir], { stdio: 'ignore' });
  // Whatever else is wrong with it, it was read to its end.
  if (status !== null) return;
  throw new Error(`cannot serve ${dataDir}: its store was cut off, it has ${file.bytes} of ${file.expectedBytes} bytes; put a backup in its place`);
}
