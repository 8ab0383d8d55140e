import { setImmediate as nextTurn } from 'node:timers/promises';
import type { TemplatedApp, us_listen_socket } from 'uws-pack';
import { limits } from '../../limits.js';
import type { AdapterOptions, HttpAdapter, Listener, OpenAdapter } from '../adapter.js';
import { readHead } from '../head.js';
import type { Uwebsockets } from './load.js';
import { UwebsocketsResponseWriter } from './response-writer.js';

/** @param uws the library, from either package */
export function openUwebsocketsAdapter(uws: Uwebsockets): OpenAdapter {
  return options => new UwebsocketsAdapter(uws, options);
}

class UwebsocketsAdapter implements HttpAdapter {
  /** One for each certificate that was read, because connections keep theirs. The last one listens. */
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
    // A port that the system picked is opened again by its number: otherwise it could not be reopened while it has connections.
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
    await quietTurn();
    return true;
  }

  close(): void {
    for (const app of this.#apps) app.close();
  }

  #newApp(): TemplatedApp {
    const { certificate, headerFields: fields, startRequest: begin, countConnection: count } = this.options;
    const app = certificate
      ? this.uws.SSLApp({ cert_file_name: certificate.certFile, key_file_name: certificate.keyFile })
      : this.uws.App();
    app.filter((_, change) => count(change === 1 ? 1 : -1));
    return app.any('/*', (res, req) => {
      const receiver = begin(readHead(req, fields), new UwebsocketsResponseWriter(res));
      res.onAborted(() => receiver.onClose());
      res.onData((chunk, isLast) => receiver.receive(new Uint8Array(chunk), isLast));
    });
  }

  /** LIBUS_LISTEN_EXCLUSIVE_PORT: a second listener would otherwise silently share the port. (This form is missing from the types.) */
  #listenOn(port: number): us_listen_socket | false {
    const app = this.#apps.at(-1)!;
    let listening: us_listen_socket | false = false;
    (app.listen.bind(app) as unknown as Listen)(this.options.host, port, 1, socket => (listening = socket));
    return listening;
  }

  #listenOnPath(path: string): us_listen_socket | false {
    let listening: us_listen_socket | false = false;
    (this.#apps.at(-1) as unknown as { listen_unix: ListenOnPath }).listen_unix(socket => (listening = socket), path);
    return listening;
  }
}

type Listen = (host: string, port: number, options: 1, listening: (socket: us_listen_socket | false) => void) => void;
type ListenOnPath = (listening: (socket: us_listen_socket | false) => void, path: string) => void;

/** Waits for a short turn of the event loop: closing a listener resets connections that wait to be accepted, and then there are hardly any. */
async function quietTurn(): Promise<void> {
  await nextTurn();
  for (
    let turns = 0, begun = -Infinity;
    turns < limits.shortTurnAttempts && performance.now() - begun > limits.shortTurnMilliseconds;
    turns++
  ) {
    begun = performance.now();
    await nextTurn();
  }
}
