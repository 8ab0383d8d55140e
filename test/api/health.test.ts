import { describe, expect, it } from 'vitest';
import { SharedServer } from '../harness/server.js';

const server = new SharedServer();

describe('health', () => {
  it('needs no token', async () => {
    expect(await server.send('/healthz', {})).toMatchObject({ status: 200, json: { status: 'ok' } });
    expect(await server.send('/readyz', {})).toMatchObject({ status: 200, json: { status: 'ready' } });
  });
});
