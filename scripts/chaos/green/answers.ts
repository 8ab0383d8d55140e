/** Answers that the proxy sends in place of the server's. */

export interface Answer {
  status: number;
  headers: Record<string, string>;
  body: string;
  /** The connection ends before the body does. */
  isCutOff?: true;
}

const json = (status: number, body: unknown): Answer => ({
  status,
  headers: { 'Content-Type': 'application/json' },
  body: JSON.stringify(body),
});
const html = (status: number): Answer => ({
  status,
  headers: { 'Content-Type': 'text/html' },
  body: '<!doctype html><title>Sign in</title>',
});

/** Answers that violate the protocol. Each is made from the server's answer, which is empty if the server did not get the request. */
export const wrongAnswers: Readonly<Record<string, (original: string) => Answer>> = {
  '200 {}': () => json(200, {}),
  '200 []': () => json(200, []),
  '200 null': () => json(200, null),
  '200 "ok"': () => json(200, 'ok'),
  '200 {"status":"ok"}': () => json(200, { status: 'ok' }),
  '200 {"paths":[]}': () => json(200, { paths: [] }),
  '200 {"test_files":[]}': () => json(200, { test_files: [] }),
  '200 {"errors":[]}': () => json(200, { errors: [] }),
  '200 empty': () => ({ status: 200, headers: {}, body: '' }),
  '200 html': () => html(200),
  '201 empty': () => ({ status: 201, headers: {}, body: '' }),
  '202 {"message"}': () => json(202, { message: 'accepted' }),
  '204': () => ({ status: 204, headers: {}, body: '' }),
  '302 to a login page': () => ({ ...html(302), headers: { Location: 'http://127.0.0.1:1/login' } }),
  '304': () => ({ status: 304, headers: {}, body: '' }),
  '401': () => json(401, { error: 'unauthorized' }),
  '404 html': () => html(404),
  '409 {}': () => json(409, {}),
  '429': () => json(429, {}),
  '500': () => json(500, { errors: ['internal error'] }),
  '502 html': () => html(502),
  '503': () => json(503, { errors: ['try again'] }),
  'JSON cut off': original => ({ ...json(200, {}), body: original.slice(0, -3) || '{"paths":["a' }),
  'body cut off': original => ({ ...json(200, {}), body: original || '{"paths":[]', isCutOff: true }),
};

/** Answers that follow the protocol but are false. The path names the endpoint. */
export const forgedAnswers = {
  // Earlier answers of the same endpoint, kept by the proxy.
  'of another node': (_, { otherNode }) => otherNode,
  'of an earlier request': (_, { sameNode }) => sameNode,
} satisfies Record<string, (path: string, earlier: { otherNode: Answer | null; sameNode: Answer | null }) => Answer | null>;

export type Forged = keyof typeof forgedAnswers;
