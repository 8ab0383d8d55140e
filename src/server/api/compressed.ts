import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { ANSWER_CHUNK_BYTES } from '../http/answer.js';
import type { Answer, Request } from '../http/request.js';
import { accepts } from './static-file.js';

const gzipped = promisify(gzip);
/** The fastest: the best takes ten times as long, and saves a quarter of the bytes. */
const LEVEL = 1;

/** A large answer as gzip, if the client takes that. A thread of libuv makes it. */
export async function compressed(answer: Answer, { acceptEncoding }: Pick<Request, 'acceptEncoding'>): Promise<Answer> {
  if (answer.body.length < ANSWER_CHUNK_BYTES || !accepts(acceptEncoding, 'gzip')) return answer;
  const headers = { ...answer.headers, 'Content-Encoding': 'gzip', Vary: 'Accept-Encoding' };
  return { ...answer, body: await gzipped(answer.body, { level: LEVEL }), headers };
}
