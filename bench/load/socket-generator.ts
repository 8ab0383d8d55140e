import { connect, type Socket } from 'node:net';
import { createHistogram } from 'node:perf_hooks';
import { answerMessages } from '../../test/testbed/worker-messages.js';
import { cpuBetween, readCpu } from './cpu.js';
import { type Frame, type Framing, httpFraming, redisFraming } from './framing.js';
import type { Load, Outcome } from './load.js';
import { PreparedRequests } from './prepared-requests.js';

/** A load of prepared requests over raw sockets, a worker process. */

const READ_BYTES = 65_536;

/** A raw connection with one request at a time. It copies nothing, as long as an answer comes in one piece. */
class Connection {
  readonly #socket: Socket;
  /** The pieces of an answer that is not complete. */
  #pieces: Buffer[] = [];

  /**
   * @param onAnswer gets the bytes of an answer, which are valid until it returns
   * @param onError called once, when the connection fails
   */
  constructor(
    { hostname, port }: URL,
    readonly framing: Framing,
    readonly onAnswer: (answer: Buffer, frame: Frame) => void,
    onError: (error: Error) => void,
  ) {
    const buffer = Buffer.allocUnsafeSlow(READ_BYTES);
    const callback = (length: number) => {
      try {
        this.#read(buffer.subarray(0, length));
      } catch (error) {
        this.#socket.destroy(error as Error);
      }
      return true;
    };
    this.#socket = connect({ host: hostname, port: Number(port), noDelay: true, onread: { buffer, callback } });
    this.#socket.once('error', onError);
    this.#socket.once('end', () => this.#socket.destroy(new Error('the server closed a connection')));
  }

  send(request: Uint8Array): void {
    this.#socket.write(request);
  }

  close(): void {
    this.#socket.removeAllListeners().destroy();
  }

  #read(bytes: Buffer): void {
    const answer = this.#pieces.length === 0 ? bytes : Buffer.concat([...this.#pieces, bytes]);
    const frame = this.framing(answer);
    if (!frame || frame.head + frame.body > answer.length) {
      // The buffer is used again for the next read.
      this.#pieces = [this.#pieces.length === 0 ? Buffer.from(bytes) : answer];
      return;
    }
    if (frame.head + frame.body < answer.length) throw new Error('the server sent more than one answer to a request');
    this.#pieces = [];
    this.onAnswer(answer, frame);
  }
}

async function generate(load: Load): Promise<Outcome> {
  const { url, from, seconds, amount = Infinity, connections, status, expected } = load;
  const address = new URL(url);
  const [framing, beginning]: [Framing, string] =
    address.protocol === 'redis:' ? [redisFraming, '$'] : [httpFraming, `HTTP/1.1 ${status} `];
  const requests = new PreparedRequests(load, from);
  const microseconds = createHistogram();
  const before = readCpu(process.pid);
  const begun = performance.now();
  const end = amount === Infinity ? begun + 1000 * seconds : Infinity;
  let [sent, answers, answerBytes, failures] = [0, 0, 0, 0];

  const drive = () =>
    new Promise<void>((resolve, reject) => {
      let sentAt = 0;
      const send = () => {
        sentAt = performance.now();
        if (sent >= amount || sentAt >= end) {
          connection.close();
          resolve();
          return;
        }
        sent += 1;
        connection.send(requests.take());
      };
      const onAnswer = (answer: Buffer, { body }: Frame) => {
        microseconds.record(Math.max(1, Math.round(1000 * (performance.now() - sentAt))));
        answers += 1;
        answerBytes += body;
        if (answer.toString('latin1', 0, beginning.length) !== beginning || (expected !== null && !answer.includes(expected)))
          failures += 1;
        send();
      };
      const connection = new Connection(address, framing, onAnswer, reject);
      send();
    });
  await Promise.all(Array.from({ length: connections }, drive));
  return {
    answers,
    failures,
    seconds: (performance.now() - begun) / 1000,
    p50Milliseconds: microseconds.percentile(50) / 1000,
    p99Milliseconds: microseconds.percentile(99) / 1000,
    meanAnswerBytes: answers === 0 ? 0 : Math.round(answerBytes / answers),
    next: requests.next,
    cpu: cpuBetween(before, readCpu(process.pid)),
  };
}

answerMessages(generate);
