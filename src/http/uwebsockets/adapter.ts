import type { TemplatedApp, us_listen_socket } from 'uWebSockets.js';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { limits } from '../../limits.js';
import type { AdapterOptions, HttpAdapter, Listener, OpenAdapter } from '../adapter.js';
import { readHead } from '../head.js';
import type { Uwebsockets } from './load.js';
import { UwebsocketsResponseWriter } from './response-writer.js';

export function openUwebsocketsAdapter(uws: Uwebsockets): OpenAdapter {
  return options => new UwebsocketsAdapter(uws, options);
}

class UwebsocketsAdapter implements HttpAdapter {
  /** One app for each certificate that was read, because connections keep theirs. The last app listens. */
  readonly #apps: TemplatedApp[] = [];
  #port: number;

  constructor(
    readonly uws: Uwebsockets,
    readonly options: AdapterOptions,
  ) {
    this.#port = options.port;
    this.#apps.push(this.#newApp());
  }

  async listen(): Promise<Listener | null> {
    const { path } = this.options;
    const { us_listen_socket_close: close, us_socket_local_port: portOf } = this.uws;
    // A port that the system picked is opened again by its number. Otherwise it could not be reopened while it has connections.
    if (path === null && this.#port === 0) {
      const picked = this.#listenOn(0);
      if (!picked) return null;
      this.#port = portOf(picked);
      close(picked);
    }
    const socket = path === null ? this.#listenOn(this.#port) : this.#listenOnPath(path);
    return socket ? { port: path === null ? this.#port : 0, close: () => close(socket) } : null;
  }

  async reloadCertificate(): Promise<boolean> {
    this.#apps.push(this.#newApp());
    await shortTurn();
    return true;
  }

  close(): void {
    for (const app of this.#apps) app.close();
  }

  #newApp(): TemplatedApp {
    const { certificate, headerFields, startRequest, countConnection } = this.options;
    const app = certificate
      ? this.uws.SSLApp({ cert_file_name: certificate.certFile, key_file_name: certificate.keyFile })
      : this.uws.App();
    app.filter((_, change) => countConnection(change === 1 ? 1 : -1));
    return app.any('/*', (res, req) => {
      const receiver = startRequest(readHead(req, headerFields), new UwebsocketsResponseWriter(res));
      res.onAborted(() => receiver.onClose());
      res.onData((chunk, isLast) => receiver.receive(new Uint8Array(chunk), isLast));
    });
  }

  /** Passes 1, LIBUS_LISTEN_EXCLUSIVE_PORT: otherwise a second process could silently share the port. The types lack this overload. */
  #listenOn(port: number): us_listen_socket | false {
    const app = this.#apps.at(-1)!;
    let result: us_listen_socket | false = false;
    (app.listen.bind(app) as unknown as Listen)(this.options.host, port, 1, socket => (result = socket));
    return result;
  }

  #listenOnPath(path: string): us_listen_socket | false {
    let result: us_listen_socket | false = false;
    (this.#apps.at(-1) as unknown as { listen_unix: ListenOnPath }).listen_unix(socket => (result = socket), path);
    return result;
  }
}

type Listen = (host: string, port: number, options: 1, callback: (socket: us_listen_socket | false) => void) => void;
type ListenOnPath = (callback: (socket: us_listen_socket | false) => void, path: string) => void;

/**
 * Waits for a short turn of the event loop. Closing a listener resets the connections that wait to be accepted, and after a short turn
 * hardly any wait.
 */
async function shortTurn(): Promise<void> {
  await nextTurn();
  for (let attempt = 0; attempt < limits.shortTurnAttempts; attempt++) {
    const start = performance.now();
    await nextTurn();
    if (performance.now() - start <= limits.shortTurnMilliseconds) return;
  }
}
