import { spawnSync } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { ApiError } from '../api-error.js';
import { limits } from '../limits.js';
import type { Config } from '../server/config.js';
import { openLastLog, openLog } from '../server/log.js';
import { openService } from '../server/service.js';
import { storeFileOf } from '../store/lmdb/open.js';
import { print } from '../terminal.js';
import { version } from '../version.js';
import { hardExit, storeFailureMessage } from './process/hard-exit.js';

/**
 * Serves until SIGTERM or SIGINT, then drains; ends at once when the disk fails the store.
 * @param unknown variables that are no settings
 */
export async function serve(config: Config, unknown: string[]): Promise<void> {
  // V8 would take what requests in flight hold for long-lived and allocate its kind in the old heap at once: half of the
  // garbage then stays for long, and each collection takes 5 ms instead of 0.5.
  setFlagsFromString('--no-allocation-site-pretenuring');
  const log = openLog(config.logLevel);
  const lastLog = openLastLog(config.logLevel);
  if (unknown.length > 0)
    log.warn({ variables: unknown }, 'no settings of the server: are they misspelt? "ballast serve --help" lists all');
  // lmdb leaves rejections behind when a commit fails; whoever waited for it was told.
  process.on('unhandledRejection', err => log.error({ err }, 'unhandled rejection'));
  assertNotTruncated(config.dataDir);
  const storeFailed = (err: Error) => {
    lastLog.fatal({ err }, storeFailureMessage(config.dataDir, err));
    hardExit();
  };
  const service = await openService(config, log, { storeFailed }).catch((error: unknown) => {
    const { message, cause } = error as Error;
    if (message.startsWith('cannot ')) throw error;
    // As the disk was told of to a client.
    if (error instanceof ApiError)
      throw new Error(`cannot serve ${config.dataDir}: ${(cause as Error | undefined)?.message ?? error.errors.join()}`, { cause: error });
    throw new Error(
      `cannot serve ${config.dataDir}: ${message}; should its store be damaged, "ballast check" tells more, and a backup helps`,
      { cause: error },
    );
  });
  let stopping = false;
  const stop = (signal: string) => {
    if (stopping) return;
    stopping = true;
    log.info({ signal }, 'draining');
    const most = limits.drainSeconds + limits.closeSeconds;
    setTimeout(() => {
      lastLog.fatal(
        `could not close within ${most} s (does the disk of ${config.dataDir} answer?), so this process ends at once: nothing acknowledged is lost`,
      );
      hardExit();
    }, 1000 * most);
    service.close().then(
      () => process.exit(0),
      (err: unknown) => {
        log.fatal({ err }, 'could not close');
        process.exit(1);
      },
    );
  };
  const hadTerminal = process.stdout.isTTY;
  process.on('SIGHUP', () => {
    if (hadTerminal && !hasTerminal()) stop('SIGHUP');
    else service.renew().catch((err: unknown) => log.error({ err }, 'the certificate stays as it was'));
  });
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);

  const { url, adminUrl } = service;
  log.info({ version, node: process.version, url, adminUrl, dataDir: config.dataDir }, 'serving');
  // Printed last: whoever reads the address may stop the server at once.
  if (service.firstToken) {
    const headers = config.headerPrefixes.map(prefix => `${prefix}-TEST-SUITE-TOKEN`);
    print('Made the project "default". Its test-suite token, shown only now:');
    print(service.firstToken);
    print(`Clients send it as ${headers.join(' or ')}.`);
  }
  if (adminUrl) print(`Metrics are at ${adminUrl}/metrics`);
  print(`Ballast listens on ${url} (data in ${config.dataDir})`);
}

/** Not when its window was closed: who started the server there wants it to end. */
function hasTerminal(): boolean {
  try {
    closeSync(openSync('/dev/tty', 'r'));
    return true;
  } catch {
    return false;
  }
}

/** Throws when the store's file was cut off: reading what is not there would end the process without a word. */
function assertNotTruncated(dataDir: string): void {
  const file = storeFileOf(dataDir);
  if (!file || file.bytes >= file.expectedBytes) return;
  // Rarely it is only that its last pages are free: another process reads all of it.
  const [node, program] = process.argv as [string, string];
  const { status } = spawnSync(node, [program, 'check', '--data-dir', dataDir], { stdio: 'ignore' });
  // Whatever else is wrong with it, it was read to its end.
  if (status !== null) return;
  throw new Error(
    `cannot serve ${dataDir}: its store was cut off, it has ${file.bytes} of ${file.expectedBytes} bytes; put a backup in its place`,
  );
}
