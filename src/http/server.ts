import { isIPv6 } from 'node:net';
import type { HttpRequest, HttpResponse, us_listen_socket } from 'uWebSockets.js';
import { Fault, faults } from '../fault.js';
import { limits } from '../limits.js';
import type { Logger } from '../log.js';
import { readBody } from './body.js';
import { headerFields, readHead } from './head.js';
import type { Answer, Request } from './request.js';
import { writeAnswer } from './write.js';

export type Handler = (request: Request) => Answer | Promise<Answer>;

export interface HttpOptions {
  host: string;
  /** 0 picks a free one. */
  port: number;
  headerPrefixes: readonly string[];
  maxBodyBytes: number;
  bodySeconds: number;
}

type Listening = (socket: us_listen_socket | false) => void;

export interface HttpServer {
  /** For example http://127.0.0.1:8080 */
  url: string;
  port: number;
  /** Takes no new connection, lets answers in flight finish (for `drainSeconds` at most), closes the rest. */
  drain(): Promise<void>;
}

// Read by uWebSockets.js when it is loaded.
process.env['UWS_HTTP_MAX_HEADERS_SIZE'] ??= String(limits.headBytes);

/** Listens, and answers every request with what the handler returns or throws. */
export async function listen(options: HttpOptions, handler: Handler, log: Logger): Promise<HttpServer> {
  const uws = await import('uWebSockets.js').catch((error: unknown) => {
    throw new Error(
      `Node ${process.version} on ${process.platform}-${process.arch} has no uWebSockets.js binary in this package: ` +
        'run Ballast with Node 20 or 22 on Linux (glibc) or macOS, ' +
        `or install the upstream uWebSockets.js package from its Git repository (${String(error).split('\n')[0]})`,
    );
  });
  const fields = headerFields(options.headerPrefixes);
  const bodyLimits = { maxBytes: options.maxBodyBytes, seconds: options.bodySeconds };
  let answering = 0;
  let draining = false;
  let idle = () => {};

  // Every request ends here exactly once: answered, or left by its client.
  const exchange = (res: HttpResponse, req: HttpRequest) => {
    const head = readHead(req, fields);
    const start = performance.now();
    let left = false;
    let ended = false;
    let answered: Answer | null = null;
    answering += 1;

    const end = () => {
      if (ended) return;
      ended = true;
      answering -= 1;
      release();
      if (left) log.debug({ request: head.id, method: head.method, path: head.path }, 'client left');
      answered?.written?.(!left);
      if (answering === 0) idle();
    };
    const write = (answer: Answer, headers: Readonly<Record<string, string>> = {}) => {
      answered = answer;
      if (left) {
        end();
        return;
      }
      log.debug(
        {
          request: head.id,
          method: head.method,
          path: head.path,
          status: answer.status,
          milliseconds: Math.round((performance.now() - start) * 100) / 100,
          client: head.clientName,
          version: head.clientVersion,
        },
        'request',
      );
      writeAnswer(
        res,
        {
          status: answer.status,
          body: answer.body,
          // uWebSockets.js says so itself only when the server is who closes.
          headers: { 'X-Request-Id': head.id, ...(head.closes && { Connection: 'close' }), ...headers },
          headOnly: head.method === 'HEAD',
          close: draining || head.closes || answer.status === 408 || head.refusal !== null,
        },
        end,
      );
    };
    const fail = (error: unknown) => {
      const fault = error instanceof Fault ? error : faults.internal(head.id);
      if (fault !== error) log.error({ request: head.id, method: head.method, path: head.path, err: error }, 'internal');
      write({ status: fault.status, body: JSON.stringify({ errors: fault.errors }) }, fault.headers);
    };

    res.onAborted(() => {
      left = true;
      // A handler that is still at work ends the exchange itself.
      if (answered || !handling) end();
    });
    let handling = false;
    let release = () => {};
    if (head.refusal) {
      // At once: what follows such a head may be anything, and the connection is closed behind the answer.
      fail(head.refusal);
      return;
    }
    release = readBody(res, head.contentLength, bodyLimits, body => {
      if (body instanceof Fault) {
        fail(body);
        return;
      }
      handling = true;
      try {
        const answer = handler({ ...head, body });
        if (answer instanceof Promise) answer.then(write, fail);
        else write(answer);
      } catch (error) {
        fail(error);
      }
    });
  };

  const app = uws.App().any('/*', exchange);
  // LIBUS_LISTEN_EXCLUSIVE_PORT: a second listener would otherwise silently share the port. (This form is
  // missing from the types.)
  const listenOn = app.listen.bind(app) as unknown as (host: string, port: number, options: 1, listening: Listening) => void;
  const socket = await new Promise<us_listen_socket | false>(resolve => {
    listenOn(options.host, options.port, 1, resolve);
  });
  if (!socket) {
    throw new Error(
      `cannot listen on ${options.host} port ${options.port}: it is in use or not this machine's; ` +
        'choose another with BALLAST_PORT or BALLAST_HOST',
    );
  }
  const port = uws.us_socket_local_port(socket);
  return {
    port,
    url: `http://${isIPv6(options.host) ? `[${options.host}]` : options.host}:${port}`,
    async drain() {
      draining = true;
      uws.us_listen_socket_close(socket);
      if (answering > 0) {
        await new Promise<void>(resolve => {
          const timer = setTimeout(resolve, limits.drainSeconds * 1000);
          idle = () => {
            clearTimeout(timer);
            resolve();
          };
        });
      }
      app.close();
    },
  };
}
