import { once } from 'node:events';
import { connect } from 'node:net';
import { Violation } from '../invariants.js';
import type { RawRequest } from './fuzzed-request.js';

const ANSWER_MILLISECONDS = 20_000;

/** An answer as it was received, and its status; null: the server closed the connection without one. */
export interface Received {
  status: number | null;
  text: string;
}

/** Sends a request on a separate connection. */
export async function send(port: number, { method, target, bytes }: RawRequest): Promise<Received> {
  const socket = connect(port, '127.0.0.1');
  try {
    const received = new Promise<string>((resolve, reject) => {
      let text = '';
      const timer = setTimeout(
        () => reject(new Violation(`${method} ${target} was not answered in ${ANSWER_MILLISECONDS} ms: ${text.slice(0, 200)}`)),
        ANSWER_MILLISECONDS,
      );
      const end = () => {
        clearTimeout(timer);
        resolve(text);
      };
      socket.setEncoding('latin1').on('data', (part: string) => {
        // "100 Continue" comes before the answer.
        text = (text + part).replace(/^HTTP\/1\.1 100 .*\r\n\r\n/, '');
        if (isComplete(text, method)) end();
      });
      socket.on('close', end).on('error', end);
    });
    await once(socket, 'connect');
    socket.write(bytes);
    const text = await received;
    const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(text)?.[1] ?? 0);
    if (status >= 500)
      throw new Violation(
        `${method} ${target} was answered with ${text.slice(0, 500)}\nThe request was ${bytes.toString('latin1').slice(0, 2000)}`,
      );
    return { status: status === 0 ? null : status, text };
  } finally {
    socket.destroy();
  }
}

function isComplete(text: string, method: string): boolean {
  const end = text.indexOf('\r\n\r\n');
  if (end < 0) return false;
  const length = /^content-length: (\d+)/im.exec(text.slice(0, end))?.[1];
  return method === 'HEAD' || (length !== undefined && text.length >= end + 4 + Number(length));
}
