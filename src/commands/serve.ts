import { setFlagsFromString } from 'node:v8';
import { type Config } from '../config.js';
import { openLog } from '../log.js';
import { openService } from '../service.js';

/** Serves until SIGTERM or SIGINT, then drains. */
export async function serve(config: Config): Promise<void> {
  // V8 would take what requests in flight hold for long-lived and allocate its kind in the old heap at once: half of the
  // garbage then stays for long, and each collection takes 5 ms instead of 0.5.
  setFlagsFromString('--no-allocation-site-pretenuring');
  const log = openLog(config.logLevel);
  // lmdb leaves a rejection behind when a commit fails (a full disk); whoever waited for it was told.
  process.on('unhandledRejection', err => log.error({ err }, 'unhandled rejection'));
  const service = await openService(config, log);
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
  process.stdout.write(`Ballast listens on ${service.url} (data in ${config.dataDir})\n`);
}
