import { describe, expect, it } from 'vitest';
import { ANSWER_CHUNK_BYTES, borrowedBody, wholeBody } from '../../../src/server/http/answer.js';

const text = (body: string | Uint8Array) => (typeof body === 'string' ? body : Buffer.from(body).toString());
const large = Buffer.alloc(ANSWER_CHUNK_BYTES, 'x');

describe('an answer with text around its body', () => {
  it.each<[situation: string, body: string | Buffer, before: string, after: string]>([
    ['bytes', Buffer.from('["größe"]'), '{"name":"測試","test_files":', '}'],
    ['a text', '[]', '{"é":', '}'],
    ['nothing', Buffer.alloc(0), '[', ']'],
    ['more than one chunk', large, '[', ']'],
    ['a long text around it', Buffer.from('[]'), 'é'.repeat(ANSWER_CHUNK_BYTES), '}'],
  ])('is written as one body around %s', (_, body, before, after) => {
    const answer = { status: 200, body, around: [before, after] as const };
    const expected = `${before}${text(body)}${after}`;
    expect(text(wholeBody(answer))).toBe(expected);
    expect(text(borrowedBody(answer))).toBe(expected);
  });

  it('is the body itself without such a text', () => {
    for (const read of [wholeBody, borrowedBody]) expect(large.equals(read({ status: 200, body: large }) as Buffer)).toBe(true);
  });
});
