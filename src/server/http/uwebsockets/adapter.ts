import type { HttpResponse, TemplatedApp, us_listen_socket } from 'uWebSockets.js';
import type { AdapterOptions, HttpAdapter, Listener, ResponseWriter, SendCallbacks, SendOptions } from '../adapter.js';
import {
  ANSWER_CHUNK_BYTES,
  type BodyWriter,
  borrowedBody,
  hasLength,
  KEEP_ALIVE,
  STATUS_LINES,
  streamBody,
  writeHeaders,
} from '../answer.js';
import { readHead } from '../head.js';
import type { Answer } from '../request.js';
import type { Uwebsockets } from './load.js';

export class UwebsocketsAdapter implements HttpAdapter {
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

  reloadCertificate(): boolean {
    this.#apps.push(this.#newApp());
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

/** Writes answers with uWebSockets.js. */
class UwebsocketsResponseWriter implements ResponseWriter {
  constructor(readonly res: HttpResponse) {}

  remoteAddress(): string {
    return Buffer.from(this.res.getRemoteAddressAsText()).toString();
  }

  close(): void {
    this.res.close();
  }

  send(answer: Answer, options: SendOptions, { onSent, onError }: SendCallbacks): () => void {
    const { status, rest } = answer;
    const body = borrowedBody(answer);
    const { clientWantsClose, headOnly, close } = options;
    const { res } = this;
    let stop = () => {};
    res.cork(() => {
      // uWebSockets.js sends this text as it is, and each call of `writeHeader` would take half a microsecond.
      let head = STATUS_LINES[status]!;
      const writeHeader = (name: string, value: string) => void (head += `\r\n${name}: ${value}`);
      writeHeaders(answer, options, writeHeader);
      if (!close) writeHeader('Keep-Alive', KEEP_ALIVE);
      // uWebSockets.js writes "close" itself, except if the client has sent it.
      if (clientWantsClose) writeHeader('Connection', 'close');
      res.writeStatus(head);
      if (headOnly && close && !clientWantsClose) {
        res.endWithoutBody(0, true);
      } else if (headOnly) {
        // Given the length as an argument, uWebSockets.js would wait for the body, and the connection would stay open without limit.
        if (!rest && hasLength(answer)) res.writeHeader('Content-Length', String(Buffer.byteLength(body)));
        // An argument of undefined would be sent as a huge length.
        res.endWithoutBody();
      } else if (rest) {
        stop = streamBody(this.#bodyWriter(close, onSent), body, rest, onError);
        return;
      } else if (body.length <= ANSWER_CHUNK_BYTES) {
        res.end(body, close);
      } else {
        this.#sendWhole(typeof body === 'string' ? Buffer.from(body) : body, onSent);
        return;
      }
      onSent();
    });
    return stop;
  }

  /** Sends as much as the socket takes at a time. `end` would copy the whole body into the socket's buffer. */
  #sendWhole(body: Uint8Array, onSent: () => void): void {
    const { res } = this;
    const [ok, finished] = res.tryEnd(body, body.length);
    if (ok || finished) {
      onSent();
      return;
    }
    res.onWritable(offset => {
      const [ok, finished] = res.tryEnd(body.subarray(offset), body.length);
      if (finished) onSent();
      return ok;
    });
  }

  #bodyWriter(close: boolean, onSent: () => void): BodyWriter {
    const { res } = this;
    return {
      write(piece: Uint8Array) {
        let hasRoom = true;
        res.cork(() => void (hasRoom = res.write(piece)));
        return hasRoom;
      },
      onWritable: (callback: () => void) =>
        void res.onWritable(() => {
          callback();
          return true;
        }),
      end() {
        res.cork(() => res.end(undefined, close));
        onSent();
      },
    };
  }
}
