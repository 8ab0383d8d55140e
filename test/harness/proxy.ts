import { once } from 'node:events';
import { createServer, request as httpRequest, type IncomingMessage, type RequestListener } from 'node:http';
import { type AddressInfo, connect, createServer as createTcpServer, type Socket, type TcpNetConnectOpts } from 'node:net';
import { onTestFinished } from 'vitest';

/** The server that gets a request, and whether its answer is lost. */
export interface Route {
  url: string;
  loseAnswer?: boolean;
}

/** Starts an HTTP server, and returns its address. `end` registers what closes it: by default after the test. */
export async function answerWith(handler: RequestListener, end: (close: () => void) => void = onTestFinished): Promise<string> {
  // An idle connection stays open: a busy client could otherwise use one in the moment in which it is closed.
  const server = createServer({ keepAliveTimeout: 0 }, handler).listen(0, '127.0.0.1');
  end(() => void server.close().closeAllConnections());
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Starts a proxy, and returns its address. A client that leaves takes its request along. */
export function startProxy(routeOf: (request: IncomingMessage) => Route, end?: (close: () => void) => void): Promise<string> {
  return answerWith((request, response) => {
    const { method, headers, url } = request;
    const route = routeOf(request);
    // Each request has a connection of its own, for the same reason.
    const forwarded = httpRequest(`${route.url}${url}`, { agent: false, method: method!, headers }, answer => {
      if (route.loseAnswer) return void response.destroy();
      response.writeHead(answer.statusCode!, answer.headers);
      return void answer.pipe(response);
    });
    forwarded.on('error', () => response.destroy());
    response.on('close', () => response.writableFinished || forwarded.destroy());
    request.pipe(forwarded);
  }, end);
}

/** Treatment of bytes that arrive: they are passed on, kept until `release`, or dropped. */
export type Passage = 'pass' | 'hold' | 'drop';

/** Passes the bytes of connections on to a server, on 127.0.0.1, until it is told otherwise. It is closed after the test. */
export class TcpProxy {
  requests: Passage = 'pass';
  answers: Passage = 'pass';
  /** A connection is ended at once. */
  refuses = false;
  port = 0;
  /** Number of connections that were accepted. */
  accepted = 0;
  readonly #sockets = new Set<Socket>();
  #held: (() => void)[] = [];
  #onStopped: (() => void)[] = [];

  /** @param target where the server listens: a port, or the path of a Unix socket */
  static async start(target: TcpNetConnectOpts | { path: string }): Promise<TcpProxy> {
    const proxy = new TcpProxy();
    const server = createTcpServer(socket => proxy.#accept(socket, target)).listen(0, '127.0.0.1');
    onTestFinished(() => {
      server.close();
      proxy.cut();
    });
    await once(server, 'listening');
    proxy.port = (server.address() as AddressInfo).port;
    return proxy;
  }

  /** Number of open connections. */
  get open(): number {
    return this.#sockets.size / 2;
  }

  /** Resolves when bytes are held or dropped, after this call. */
  stopped(): Promise<void> {
    return new Promise(resolve => this.#onStopped.push(resolve));
  }

  /** Passes everything on, what was held first. */
  release(): void {
    this.requests = 'pass';
    this.answers = 'pass';
    for (const pass of this.#held.splice(0)) pass();
  }

  /** Ends all connections. What was held is lost. */
  cut(): void {
    this.#held = [];
    for (const socket of this.#sockets) socket.destroy();
  }

  #accept(client: Socket, target: TcpNetConnectOpts | { path: string }): void {
    if (this.refuses) return void client.destroy();
    this.accepted += 1;
    const server = connect(target as TcpNetConnectOpts);
    this.#join(client, server, () => this.requests);
    this.#join(server, client, () => this.answers);
  }

  #join(from: Socket, to: Socket, passage: () => Passage): void {
    this.#sockets.add(from);
    from.on('data', bytes => {
      if (passage() === 'pass') return void to.write(bytes);
      if (passage() === 'hold') this.#held.push(() => to.write(bytes));
      for (const resolve of this.#onStopped.splice(0)) resolve();
    });
    from.on('error', () => {});
    from.on('close', () => {
      this.#sockets.delete(from);
      to.destroy();
    });
  }
}
