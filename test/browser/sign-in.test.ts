import { describe, expect, it } from 'vitest';
import { SharedServer } from '../harness/server.js';
import { openTab } from './tab.js';

const server = new SharedServer();

describe('the sign-in page', () => {
  it('is shown without a session', async () => {
    const tab = await openTab();
    const answer = await tab.goto(`${server.url}/sign-in`);
    expect(answer!.headers()['content-security-policy']).toMatch(/script-src 'self'/);
    await tab.getByRole('heading').waitFor();
  });
});
