import { spawnSync } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { totalmem } from 'node:os';
import { setFlagsFromString } from 'node:v8';
import { print } from '../../base/terminal.js';
import { version } from '../../base/version.js';
import { scaleMemory } from '../../server/engine/memory-bounds.js';
import { Refusal } from '../../server/engine/refusal.js';
import { DRAIN_SECONDS } from '../../server/http/server.js';
import { type Logger, openLog, openSyncLog } from '../../server/process/log.js';
import { openService, type Service } from '../../server/process/service.js';
import type { Config } from '../../server/process/settings.js';
import { storeFileOf } from '../../server/store/lmdb/tables.js';
import { placeOf, type StoreSource, sourceOf } from '../../server/store/source.js';
import { hardExit, storeFailureMessage } from '../process/exit.js';

/** Time after `DRAIN_SECONDS` to close everything else. */
export const CLOSE_SECONDS = 3;

/**
 * Serves until SIGTERM or SIGINT, then drains. Exits at once if a write to the store fails.
 * @param unknown environment variables that look like settings but are not
 */
export async function serve(config: Config, unknown: string[]): Promise<void> {
  // V8 would take the objects of requests in flight for long-lived and allocate such objects in the old space. Half of the garbage would then
  // stay for long, and each collection would take 5 ms instead of 0.5.
  setFlagsFromString('--no-allocation-site-pretenuring');
  const log = openLog(config.logLevel);
  const lastLog = openSyncLog(config.logLevel);
  if (unknown.length > 0) log.warn({ variables: unknown }, 'unknown settings, perhaps misspelt: "ballast serve --help" lists all settings');
  // A failed commit leaves unhandled rejections in lmdb. Everyone who waited for it has got the error.
  process.on('unhandledRejection', err => log.error({ err }, 'unhandled rejection'));
  const source = sourceOf(config);
  const place = placeOf(source);
  if ('dataDir' in source) assertNotTruncated(source.dataDir);
  scaleMemory(config.memoryBytes);
  warnOfLittleMemory(config.memoryBytes, log);
  const storeFailed = (err: Error) => {
    lastLog.fatal({ err }, storeFailureMessage(place, err));
    hardExit();
  };
  const threadsFailed = (err: Error) => {
    lastLog.fatal({ err }, `cannot serve ${place}: no worker thread can start: ${err.message}`);
    hardExit();
  };
  const service = await openService(config, log, { storeFailed, threadsFailed }).catch((error: unknown) => {
    const { message, cause } = error as Error;
    if (message.startsWith('cannot ')) throw error;
    // The cause names the disk error; the message is for API clients.
    if (error instanceof Refusal)
      throw new Error(`cannot serve ${place}: ${(cause as Error | undefined)?.message ?? message}`, { cause: error });
    const advice = 'dataDir' in source ? '; if the store is damaged, "ballast check" shows how, and a backup can replace it' : '';
    throw new Error(`cannot serve ${place}: ${message}${advice}`, { cause: error });
  });
  stopAtSignals(service, source, log, lastLog);
  printStart(service, config, place, log);
}

/** SIGTERM, SIGINT and the end of the terminal drain the server and close it. Any other SIGHUP renews its certificate. */
function stopAtSignals(service: Service, source: StoreSource, log: Logger, lastLog: Logger): void {
  let stopping = false;
  const stop = (signal: string) => {
    if (stopping) return;
    stopping = true;
    log.info({ signal }, 'draining');
    const maxSeconds = DRAIN_SECONDS + CLOSE_SECONDS;
    setTimeout(() => {
      lastLog.fatal(
        `could not close within ${maxSeconds} s (does ${'dataDir' in source ? `the disk of ${source.dataDir}` : placeOf(source)} answer?), so this process ends at once: nothing acknowledged is lost`,
      );
      hardExit();
    }, 1000 * maxSeconds);
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
    else service.renew().catch((err: unknown) => log.error({ err }, 'could not renew the certificate: the old one stays in use'));
  });
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
}

/** Logs and prints where the server listens, and what the first start made. */
function printStart(service: Service, config: Config, place: string, log: Logger): void {
  const { url, adminUrl } = service;
  log.info({ version, node: process.version, url, adminUrl, store: place }, 'serving');
  // The address is printed last: its reader may stop the server at once.
  if (service.firstToken) {
    const headers = config.headerPrefixes.map(prefix => `${prefix}-TEST-SUITE-TOKEN`);
    print('Made the project "default". Its test-suite token, shown only now:');
    print(service.firstToken);
    print(`Clients send it as ${headers.join(' or ')}.`);
  }
  if (service.firstLink) {
    print('Sign in to the dashboard with this link, once and within 10 minutes:');
    print(service.firstLink);
  }
  if (adminUrl) print(`Metrics are at ${adminUrl}/metrics`);
  const notes = [`data in ${place}`, ...(service.slowerServer ? [service.slowerServer] : [])];
  print(`Ballast listens on ${url} (${notes.join('; ')})`);
}

/** The memory of the machine, or of the container if that is less. */
function warnOfLittleMemory(needed: number, log: Logger): void {
  const available = Math.min(totalmem(), process.constrainedMemory?.() || Infinity);
  if (available < needed)
    log.warn(
      { neededBytes: needed, availableBytes: available },
      'this machine or container has less memory than BALLAST_MEMORY_BYTES (--memory-bytes): the kernel may end the server under load; set it to what there is, or give it more',
    );
}

/** Returns false after the window of the terminal was closed, which must stop the server. */
function hasTerminal(): boolean {
  try {
    closeSync(openSync('/dev/tty', 'r'));
    return true;
  } catch {
    return false;
  }
}

/** Throws if the store file is truncated: reading beyond its end would kill the process without a message. */
function assertNotTruncated(dataDir: string): void {
  const file = storeFileOf(dataDir);
  if (!file || file.bytes >= file.expectedBytes) return;
  // The missing pages may be free pages. Another process reads the whole store to find out.
  const [node, program] = process.argv as [string, string];
  const { status } = spawnSync(node, [program, 'check', '--data-dir', dataDir], { stdio: 'ignore' });
  // A status means that the process read the whole store, whatever it found.
  if (status !== null) return;
  throw new Error(`cannot serve ${dataDir}: its store was cut off: it has ${file.bytes} of ${file.expectedBytes} bytes; restore a backup`);
}
